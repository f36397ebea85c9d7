#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json 'device=Other GPU'
"$JUDGE" compare old.json new.json || echo "exit code $?"
"$JUDGE" compare old.json new.json --cross
