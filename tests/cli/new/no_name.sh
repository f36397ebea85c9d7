set -u
"$JUDGE" new topk
