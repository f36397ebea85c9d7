#!/bin/sh
# A perf case is a case of bench: the complaint must be about the missing backend, not about the name.
set -u
WARPJUDGE_CUDART=/nonexistent.so WARPJUDGE_VGPU_LIB=/nonexistent.so "$JUDGE" bench topk --case perf_50m_k100
