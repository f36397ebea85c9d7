#!/bin/sh
# Accepted solutions and baselines on the virtual GPU under other orders of blocks, warps and lanes.
# usage: tests/schedules.sh [PROBLEM...]   environment: SCHEDULES="1 2 3", TAG=edge, JOBS=2
# Needs a build (./judge); every verdict must be the one that each file expects.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- topk dot reduction parallel_merge decay_attention
failed=0
for schedule in ${SCHEDULES:-1 2 3 4 5 6 7 8}; do
    for problem in "$@"; do
        printf '%s, schedule %s: ' "$problem" "$schedule"
        if out=$("$root/judge" run "$problem" --backend vgpu --tag "${TAG:-edge}" \
            --schedule "$schedule" -j "${JOBS:-2}" -q 2>&1); then
            echo ok
        else
            printf 'not as expected\n%s\n' "$out"
            failed=1
        fi
    done
done
exit $failed
