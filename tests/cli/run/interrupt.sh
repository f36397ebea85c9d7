#!/bin/sh
set -u
# Ctrl-C in the middle: exit code 130, nothing stored, no process left
program=$JUDGE
WARPJUDGE_CUDART=$(dirname "$program")/standin/libcudart.so.13
export WARPJUDGE_CUDART
"$program" run dot --backend standin >out.txt 2>err.txt &
started=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.2
    # interrupted once a compiler is at work
    [ -n "$(find "$TMP/build" -name '*' -type f 2>/dev/null | head -1)" ] && break
done
kill -INT "$started"
wait "$started"
echo "exit code $?"
cat err.txt
[ ! -e "$TMP/build/results" ] || echo "results were stored"
sleep 0.3
for pid in /proc/[0-9]*; do
    { tr '\0' ' ' <"$pid/cmdline"; } 2>/dev/null | grep -F "$TMP/build" | grep -v "^grep" | sed 's/^/left: /'
done
