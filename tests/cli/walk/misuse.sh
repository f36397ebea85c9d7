#!/bin/sh
# Calls of the runtime that are used wrongly, and host code that dies: each report says which call,
# what it was given and what is allowed. Then a fault beyond the statement's limits, which is told
# and decides nothing.
set -eu
here=$ROOT/tests/cli/walk
parts=$(dirname "$JUDGE")

export WARPJUDGE_BACKEND=vgpu WARPJUDGE_CACHE_DIR="$parts/so" WARPJUDGE_TIME_SCALE=8
export WARPJUDGE_RUNNER="$parts/judge-runner" WARPJUDGE_VGPU_LIB="$parts/vgpu/libcudart.so.13"

judge_it() {
    cp "$here/$1.cu.part" "$1.cu"
    code=0
    "$JUDGE" run reduction "$1.cu" -j1 -v --seed 1 --case "$2" >report 2>&1 || code=$?
    if [ "$code" = 77 ]; then # no compiler here
        cat report
        exit 77
    fi
    sed -e 's/ *[0-9.]* ms  / /' -e 's/ *[0-9.]* ms$//' -e 's/ *[0-9.]* s  /  /' \
        -e 's/in [0-9.]* s;/;/' -e '/^      kernel /d' -e '/^      next: /d' report
    echo "exit $code"
}

judge_it misuse '[sf][imo][tal]*[1-9]'
judge_it beyond '[ns][0m]*'
