#!/bin/sh
set -u
mkdir empty
"$JUDGE" board --curves empty
echo "exit code $?"
python3 "$ROOT/tests/cli/results.py" empty/topk.json
"$JUDGE" board --curves empty topk
