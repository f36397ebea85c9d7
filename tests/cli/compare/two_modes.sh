#!/bin/sh
set -u
# a machine with two modes is unclear, not red; --strict makes it red
python3 "$ROOT/tests/cli/results.py" old.json
python3 "$ROOT/tests/cli/results.py" new.json median=600 flags=B
"$JUDGE" compare old.json new.json
"$JUDGE" compare old.json new.json --strict --quiet
