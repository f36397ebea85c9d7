#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
printf '{"format": 1}' >new.json
"$JUDGE" compare old.json new.json
