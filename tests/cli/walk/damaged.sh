#!/bin/sh
# A case file whose bytes changed: the answer differs, and the judge blames the file, not the solution.
set -eu
parts=$(dirname "$JUDGE")
tree=$PWD/tree

mkdir -p "$tree/problems" "$tree/testcases"
cp -r "$ROOT/problems/reduction" "$tree/problems/"
cp -r "$ROOT/testcases/reduction" "$tree/testcases/"
cp "$ROOT/tests/cli/walk/beyond.cu.part" beyond.cu
file=$tree/testcases/reduction/small_2.in.safetensors
# the upper half of input[0], which stands in front of input[1] and N
printf '\022\064' | dd of="$file" bs=1 seek=$(($(wc -c <"$file") - 10)) conv=notrunc 2>/dev/null

export WARPJUDGE_BACKEND=vgpu WARPJUDGE_CACHE_DIR="$parts/so" WARPJUDGE_TIME_SCALE=8 WARPJUDGE_ROOT="$tree"
export WARPJUDGE_RUNNER="$parts/judge-runner" WARPJUDGE_VGPU_LIB="$parts/vgpu/libcudart.so.13"
code=0
"$JUDGE" run reduction beyond.cu -j1 --seed 1 --case small_2 >report 2>&1 || code=$?
if [ "$code" = 77 ]; then # no compiler here
    cat report
    exit 77
fi
sed -e 's/ *[0-9.]* s  /  /' -e 's/in [0-9.]* s;/;/' -e '/^      next: /d' report
echo "exit $code"
