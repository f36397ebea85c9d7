#!/bin/sh
set -u
# a skip that must not be one is exit code 1
WARPJUDGE_CUDART=/nonexistent.so WARPJUDGE_VGPU_LIB=/nonexistent.so \
    "$JUDGE" run dot/rejects/zeros --require-gpu
