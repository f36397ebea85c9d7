#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json drop=radix_select
"$JUDGE" compare old.json new.json
"$JUDGE" compare old.json new.json --strict
