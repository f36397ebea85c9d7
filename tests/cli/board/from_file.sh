#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" r.json flags=A
"$JUDGE" board --from r.json
