#!/bin/sh
set -u
python3 "$ROOT/tests/cli/results.py" r.json
"$JUDGE" board --from r.json --html page
grep -c '<svg' page/index.html >/dev/null && grep -o '<h2>[a-z]*</h2>' page/index.html
