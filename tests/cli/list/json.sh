#!/bin/sh
set -u
"$JUDGE" list --json - topk dot | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    print(p["problem"], len(p["solutions"]) > 5, len(p["cases"]) > 20)'
