#!/bin/sh
# no_silent_pass.sh JUDGE ROOT - with nothing to run on, no command may say AC or exit with 0.
# The most dangerous failure of a judge is a pass without evidence.
set -eu

judge=$1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/judge-meta-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset WARPJUDGE_BACKEND WARPJUDGE_REQUIRE_GPU
export WARPJUDGE_ROOT="$2" WARPJUDGE_BUILD_DIR="$tmp" NO_COLOR=1
export WARPJUDGE_CUDART=/nonexistent.so WARPJUDGE_VGPU_LIB=/nonexistent.so

tried=0
failed=0
try() {
    status=0
    "$judge" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    tried=$((tried + 1))
    if [ "$status" != 77 ]; then
        echo "judge $*: exit code $status, expected 77"
        failed=1
    fi
    if grep -qw AC "$tmp/out" "$tmp/err"; then
        echo "judge $*: says AC:"
        cat "$tmp/out" "$tmp/err"
        failed=1
    fi
    if [ ! -s "$tmp/err" ]; then
        echo "judge $*: does not say why"
        failed=1
    fi
}

try
for problem in "$2"/problems/*/problem.json; do
    name=$(basename "$(dirname "$problem")")
    try run "$name"
    try run "$name/rejects"
    try run "$name" --quiet
    try run "$name" --json -
    try run "$name" --backend gpu
    try run "$name" --backend vgpu
    try bench "$name"
done
[ "$tried" -ge 36 ] || { echo "only $tried commands were tried"; failed=1; }
[ ! -e "$tmp/results" ] || { echo "results were stored"; failed=1; }
exit "$failed"
