#!/bin/sh
set -u
printf '{"format": 1,\n "context": 7}\n' >r.json
"$JUDGE" board --from r.json
