set -u
# Ctrl-C in the middle: exit code 130, nothing stored, no process left
WARPJUDGE_CUDART=$(dirname "$JUDGE")/standin/libcudart.so.13
export WARPJUDGE_CUDART
"$JUDGE" run dot --backend standin >out.txt 2>err.txt &
judge=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.2
    # interrupted once a compiler is at work
    [ -n "$(find "$TMP/build" -name '*' -type f 2>/dev/null | head -1)" ] && break
done
kill -INT "$judge"
wait "$judge"
echo "exit code $?"
cat err.txt
[ ! -e "$TMP/build/results" ] || echo "results were stored"
sleep 0.3
for pid in /proc/[0-9]*; do
    cat "$pid/cmdline" 2>/dev/null | tr '\0' ' ' | grep -F "$TMP/build" | grep -v "^grep" | sed 's/^/left: /'
done
