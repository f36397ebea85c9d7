#!/bin/sh
# Two backends side by side: the same verdict at the same case, and one that differs.
set -u
python3 "$ROOT/tests/cli/results.py" vgpu.json backend=vgpu verdict=WA
python3 "$ROOT/tests/cli/results.py" gpu.json verdict=WA drop=baselines/cub_topk
"$JUDGE" compare --verdicts vgpu.json gpu.json
echo "exit code $?"
python3 "$ROOT/tests/cli/results.py" gpu.json verdict=SK
"$JUDGE" compare --verdicts -q vgpu.json gpu.json
echo "exit code $?"
python3 "$ROOT/tests/cli/results.py" gpu.json
"$JUDGE" compare --verdicts vgpu.json gpu.json
