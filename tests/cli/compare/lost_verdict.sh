#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json verdict=WA
"$JUDGE" compare old.json new.json
