#!/bin/sh
set -u
# only the lines between the markers change
python3 "$ROOT/tests/cli/results.py" r.json
printf 'above\n<!-- judge:board topk -->\nold\n<!-- judge:end -->\nbelow\n' >R.md
"$JUDGE" board --from r.json --md R.md
cat R.md
