#!/bin/sh
set -u
# with nothing to run on there is no verdict at all
WARPJUDGE_CUDART=/nonexistent.so WARPJUDGE_VGPU_LIB=/nonexistent.so "$JUDGE" run dot/rejects/zeros
