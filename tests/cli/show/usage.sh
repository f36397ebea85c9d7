set -u
"$JUDGE" show topk
