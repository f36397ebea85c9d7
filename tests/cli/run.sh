#!/bin/sh
# run.sh JUDGE ROOT SCRIPT - runs one command-line test and compares what a user would see.
#
# SCRIPT.sh stands beside its expectations: NAME.stdout.exact or NAME.stdout.glob, the same for
# stderr, NAME.exit (0 when absent). A .glob line is a shell pattern; a line "..." stands for any
# number of lines. A stream without a file must stay empty. The script runs in an empty folder with
# $JUDGE and $ROOT set, HOME empty, no colour, and results and cases in that folder.
#
# WARPJUDGE_UPDATE=1 records .exact files anew, prints the difference and reports "skipped" (77).
set -eu

judge=$1
root=$2
script=$3
base=${script%.sh}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/judge-cli-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/work" "$tmp/home"

status=0
(
    cd "$tmp/work"
    unset WARPJUDGE_BACKEND WARPJUDGE_REQUIRE_GPU WARPJUDGE_CUDART WARPJUDGE_VGPU_LIB XDG_CONFIG_HOME
    WARPJUDGE_ROOT=${CLI_TREE:-$root} WARPJUDGE_BUILD_DIR=$tmp/build HOME=$tmp/home NO_COLOR=1 \
        JUDGE=$judge ROOT=$root TMP=$tmp LC_ALL=C sh "$script"
) >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || status=$?

# match PATTERN_FILE TEXT_FILE: true when every line fits.
match() {
    exec 3<"$1" 4<"$2"
    any=no
    while IFS= read -r pattern <&3; do
        if [ "$pattern" = "..." ]; then
            any=yes
            continue
        fi
        while :; do
            if ! IFS= read -r line <&4; then
                echo "missing: $pattern"
                return 1
            fi
            # shellcheck disable=SC2254 # the pattern is meant as one
            case $line in
            $pattern) break ;;
            esac
            if [ "$any" = no ]; then
                echo "expected: $pattern"
                echo "found:    $line"
                return 1
            fi
        done
        any=no
    done
    if [ "$any" = no ] && IFS= read -r line <&4; then
        echo "unexpected: $line"
        return 1
    fi
    return 0
}

failed=no
updated=no
for stream in stdout stderr; do
    if [ "${WARPJUDGE_UPDATE:-}" = 1 ] && [ ! -f "$base.$stream.glob" ]; then
        if [ -s "$tmp/$stream" ]; then
            diff -u "$base.$stream.exact" "$tmp/$stream" 2>/dev/null || true
            cp "$tmp/$stream" "$base.$stream.exact"
        else
            rm -f "$base.$stream.exact"
        fi
        updated=yes
    elif [ -f "$base.$stream.exact" ]; then
        diff -u "$base.$stream.exact" "$tmp/$stream" || failed=yes
    elif [ -f "$base.$stream.glob" ]; then
        match "$base.$stream.glob" "$tmp/$stream" || failed=yes
    elif [ -s "$tmp/$stream" ]; then
        echo "$stream should be empty:"
        cat "$tmp/$stream"
        failed=yes
    fi
done

expected=0
[ ! -f "$base.exit" ] || expected=$(cat "$base.exit")
if [ "$updated" = yes ]; then
    if [ "$status" = 0 ]; then rm -f "$base.exit"; else echo "$status" >"$base.exit"; fi
    echo "recorded anew: skipped, not passed"
    exit 77
fi
if [ "$status" != "$expected" ]; then
    echo "exit code $status, expected $expected"
    failed=yes
fi
if [ "$failed" = yes ]; then
    echo "--- stdout"
    cat "$tmp/stdout"
    echo "--- stderr"
    cat "$tmp/stderr"
    exit 1
fi
