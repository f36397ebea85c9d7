#!/bin/sh
set -u
# a copy of the tree's problems, so that nothing is written into the tree
mkdir -p tree/problems tree/testcases
cp -r "$ROOT/problems/topk" tree/problems/
cp -r "$ROOT/testcases/topk" tree/testcases/
WARPJUDGE_ROOT=$PWD/tree "$JUDGE" new topk/mine | sed "s|$PWD|DIR|"
cmp "$ROOT/problems/topk/starter.cu.txt" tree/problems/topk/mine.cu && echo "same as the starter"
echo changed >tree/problems/topk/mine.cu
WARPJUDGE_ROOT=$PWD/tree "$JUDGE" new topk/mine 2>&1 | sed "s|$PWD|DIR|"
cat tree/problems/topk/mine.cu
