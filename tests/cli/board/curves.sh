#!/bin/sh
# Pictures again from a file of bench --curves: one a family, and the steps that no baseline has.
set -u
mkdir curves
python3 "$ROOT/tests/cli/results.py" curves/topk.json curve=1.25
"$JUDGE" board --curves curves
python3 "$ROOT/tests/cli/results.py" curves/topk.json curve=1.5
"$JUDGE" board --curves curves topk
ls curves
grep -c '<path fill="none"' curves/topk-k.svg
