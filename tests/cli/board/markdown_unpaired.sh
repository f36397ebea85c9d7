#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" r.json
printf 'above\n<!-- judge:board topk -->\nold\n' >R.md
"$JUDGE" board --from r.json --md R.md || echo "exit code $?"
cat R.md
