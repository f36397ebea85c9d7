set -u
"$JUDGE" run topk --tag egde
