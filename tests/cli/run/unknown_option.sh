set -u
"$JUDGE" run topk --strickt
