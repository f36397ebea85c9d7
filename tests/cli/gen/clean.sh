#!/bin/sh
set -u
# made cases go, nothing else
mkdir -p "$TMP/build/cases/dot" "$TMP/build/cases/topk" && touch "$TMP/build/cases/dot/x"
"$JUDGE" gen dot --clean
ls "$TMP/build/cases"
