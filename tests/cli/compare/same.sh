#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json median=555.5
"$JUDGE" compare old.json new.json
