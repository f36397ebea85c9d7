set -u
"$JUDGE" run topk --seed xyz
