#!/bin/sh
# test_launcher.sh <tree> - the launcher ./judge with stand-ins for cmake, nvcc, apt-get and the built
# program: what it runs, when it rebuilds, what it says when something is missing.
# Builds nothing for real; the suite itself shows that the real build works.
set -eu

unset WARPJUDGE_NVCC WARPJUDGE_OFFLINE CUDA_HOME # of whoever runs the suite
tree=$1
base=$(mktemp -d "${TMPDIR:-/tmp}/warpjudge launcher.XXXXXX")
trap 'rm -rf "$base"' EXIT INT TERM
home=$base/tree
stubs=$base/stubs
calls=$base/calls
passed=0
failed=0

check() { # <what> <command...>
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$what"
        sed 's/^/    out: /' "$base/out"
        sed 's/^/    err: /' "$base/err"
    fi
}

# Runs the launcher; its output lies in out and err, its exit code in $code.
launch() {
    : >"$calls"
    code=0
    PATH=$stubs:/usr/bin:/bin HOME=/nonexistent "$home/judge" "$@" >"$base/out" 2>"$base/err" </dev/null || code=$?
}

said() { grep -q -F -e "$1" "$base/err"; }
called() { grep -q -F -e "$1" "$calls"; }
not_called() { ! grep -q -F -e "$1" "$calls"; }
code_is() { [ "$code" -eq "$1" ]; }
output_is() { [ "$(cat "$base/out")" = "$1" ]; }

stub() { # <name>, the script on stdin
    printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$1" "$calls" >"$stubs/$1"
    cat >>"$stubs/$1"
    chmod +x "$stubs/$1"
}

mkdir -p "$home/cmake" "$home/harness" "$home/vgpu" "$home/tests" "$home/problems" "$stubs" "$base/cuda/include"
cp "$tree/judge" "$home/judge"
cp "$tree"/cmake/toolkit-wheels*.txt "$home/cmake/"
: >"$home/CMakeLists.txt"
: >"$home/CMakePresets.json"
: >"$home/harness/a.c"
: >"$base/cuda/include/cuda_runtime_api.h"
: >"$base/out"
: >"$base/err"

stub nvcc <<END
case \$1 in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.1' ;;
--dryrun) echo '#\$ TOP=$base/cuda' >&2 ;;
esac
END
stub ctest </dev/null
stub cmake <<END
case \$1 in
--preset) : >'$home/build/dev/build.ninja'; : >'$home/build/dev/CMakeCache.txt' ;;
--build)
    [ ! -e '$base/break' ] || { echo 'a.c:3:1: error: expected identifier'; exit 1; }
    printf '#!/bin/sh\necho "program:\$#:\$1"\nexit 7\n' >'$home/build/dev/judge'
    chmod +x '$home/build/dev/judge' ;;
esac
END
# The packages that need checking are there, whatever this machine has.
for tool in ninja clang-format shellcheck codespell black mypy; do stub "$tool" </dev/null; done
stub cc <<END
[ ! -e '$base/no_header' ] || ! grep -q "\$(cat '$base/no_header')" || exit 1
END
stub g++ </dev/null
stub python3 <<'END'
END

launch run 'a b'
check "first start: the program's exit code" code_is 7
check "first start: arguments arrive whole" output_is "program:2:run"
check "first start: configures" called "cmake --preset dev"
check "first start: builds the product" called "--target product"
check "first start: says so" said "building"

launch list
check "second start: runs the program" output_is "program:1:list"
check "second start: no cmake" not_called "cmake"
check "second start: no compiler is asked" not_called "nvcc"
check "second start: silent" test ! -s "$base/err"

touch "$home/problems/new.cu"
launch list
check "a new solution: no build" not_called "cmake"

sleep 0.01
touch "$home/harness/a.c"
launch list
check "a newer source: builds" called "cmake --build"
check "a newer source: no configuration" not_called "cmake --preset"

ln -s "$home/judge" "$base/link"
code=0
(cd / && PATH=$stubs:/usr/bin:/bin "$base/link" x >"$base/out" 2>"$base/err") || code=$?
check "through a link, from elsewhere" output_is "program:1:x"

touch "$home/harness/a.c" "$base/break"
launch list
check "broken build: exit code 3" code_is 3
check "broken build: the compiler's line" said "a.c:3:1: error: expected identifier"
check "broken build: where the log is" said "the build failed; the whole log is $home/build/launcher.log"
launch list
check "broken build: not taken for good the next time" code_is 3
rm "$base/break"
launch list
check "mended build: runs again" output_is "program:1:list"

launch test -R 'unit x'
check "test: configures with tests" called "cmake --preset dev"
check "test: builds everything" not_called "--target product"
check "test: runs ctest with the options" called "ctest --test-dir $home/build/dev --output-on-failure --no-tests=error"
check "test: passes the pattern" called "-R unit x"
launch test
check "test again: no build" not_called "cmake --build"
launch list
check "after test: no build" not_called "cmake"

cp -r "$home" "$base/moved tree"
real=$home
home="$base/moved tree"
sed "s|$real|$home|g" "$stubs/cmake" >"$stubs/cmake.new"
chmod +x "$stubs/cmake.new"
mv "$stubs/cmake.new" "$stubs/cmake"
launch list
check "moved tree: configures anew" called "cmake --preset dev"
check "moved tree: runs" output_is "program:1:list"

rm -rf "$home/build"
export WARPJUDGE_NVCC=/no/such/nvcc
launch list
check "bad WARPJUDGE_NVCC: exit code 3" code_is 3
check "bad WARPJUDGE_NVCC: is named" said "WARPJUDGE_NVCC=/no/such/nvcc is no nvcc of CUDA 13"
unset WARPJUDGE_NVCC

rm -rf "$home/build"
echo xxhash.h >"$base/no_header"
export WARPJUDGE_OFFLINE=1
launch list
check "offline, package missing: exit code 3" code_is 3
check "offline, package missing: the line to type" \
    said "apt-get install -y --no-install-recommends libxxhash-dev"
unset WARPJUDGE_OFFLINE
stub sudo <<'END'
[ "$1" != -n ] || shift
exec "$@"
END
stub apt-get <<END
case \$1 in
update) : >'$base/updated' ;;
install) [ -e '$base/updated' ] || exit 100; rm -f '$base/no_header' ;;
esac
END
launch list
check "package missing: updates the lists and installs" \
    called "apt-get install -y --no-install-recommends libxxhash-dev"
check "package missing: says so" said "installing libxxhash-dev"
check "package missing: then runs" output_is "program:1:list"

rm -rf "$home/build"
echo xxhash.h >"$base/no_header"
stub apt-get <<'END'
echo 'E: Unable to fetch some archives'
exit 100
END
launch list
check "apt fails: exit code 3" code_is 3
check "apt fails: what it said" said "E: Unable to fetch some archives"
check "apt fails: what to do" said "as root, type: apt-get update && apt-get install"

printf '%d checks passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -ge 30 ]
