#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json median=570
"$JUDGE" compare old.json new.json --threshold 5
