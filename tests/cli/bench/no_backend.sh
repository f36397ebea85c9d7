#!/bin/sh
set -u
WARPJUDGE_CUDART=/nonexistent.so WARPJUDGE_VGPU_LIB=/nonexistent.so "$JUDGE" bench topk
