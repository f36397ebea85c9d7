#!/bin/sh
# The newcomer's walk: a solution made from the starter, right first, then broken in six ways. Each
# report below must be enough to find the fault: it stands in topk.stdout.glob as a reader sees it.
set -eu
here=$ROOT/tests/cli/walk
parts=$(dirname "$JUDGE")
tree=$PWD/"my tree" # a blank in the path is part of the test

mkdir -p "$tree/problems" "$tree/testcases"
cp -r "$ROOT/problems/topk" "$tree/problems/"
cp -r "$ROOT/testcases/topk" "$tree/testcases/"
# A hundredth of the budget of instructions, so that the endless loop ends soon; nothing else needs
# as much. The manifest names the bytes of problem.json.
spec=$tree/problems/topk/problem.json
old=$(sha256sum <"$spec" | cut -d' ' -f1)
sed -i 's/"vgpu_minstr": *[0-9]*/"vgpu_minstr": 5/' "$spec"
new=$(sha256sum <"$spec" | cut -d' ' -f1)
sed -i "s/$old/$new/" "$tree/testcases/topk/MANIFEST.json"

export WARPJUDGE_ROOT="$tree" WARPJUDGE_BUILD_DIR="$tree/build" WARPJUDGE_BACKEND=vgpu
export WARPJUDGE_RUNNER="$parts/judge-runner" WARPJUDGE_VGPU_LIB="$parts/vgpu/libcudart.so.13"
export WARPJUDGE_CACHE_DIR="$parts/so" WARPJUDGE_TIME_SCALE=8

"$JUDGE" new topk/mine | sed "s|$PWD|DIR|"
mine=$tree/problems/topk/mine.cu
grep -v '^[{}]$' "$mine" >starter
# The starter ends in an empty body; kernels go in front of solve(), its text between the braces.
{
    sed '/^extern "C"/,$d' starter
    cat "$here/solve.cu.part"
    sed -n '/^extern "C"/,$p' starter
    echo "{"
    cat "$here/body.cu.part"
    echo "}"
} >right.cu

# walk TITLE SED_SCRIPT: edits one place of the right file and judges the result.
walk() {
    sed "$2" right.cu >"$mine"
    lines=$(diff right.cu "$mine" | grep -c '^[<>]') || true
    printf '== %s: %s lines differ\n' "$1" "$lines"
    code=0
    "$JUDGE" run topk/mine -j1 --tag site >report 2>&1 || code=$?
    if [ "$code" = 77 ]; then # no compiler here
        cat report
        exit 77
    fi
    cat report
    echo "exit $code"
}

walk "right" ""
walk "off by one" 's/if (i < k)/if (i < k - 1)/'
walk "no sync" '/before the next stride/d'
walk "wrong sort order" 's/(tile\[i\] < tile\[j\])/(tile[i] > tile[j])/'
walk "out-of-bounds write" 's/if (i < k)/if (i <= k)/'
walk "infinite loop" 's/low = middle + 1;/low = middle;/'
walk "syntax error" 's/float held = tile\[i\];/float held = tile[i]/'
