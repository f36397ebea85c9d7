set -u
"$JUDGE" profile topk
