#!/bin/sh
set -u
# on the virtual GPU exact counts are compared
python3 "$ROOT/tests/cli/results.py" old.json backend=vgpu warp_inst=1000
python3 "$ROOT/tests/cli/results.py" new.json backend=vgpu warp_inst=1100
"$JUDGE" compare old.json new.json
