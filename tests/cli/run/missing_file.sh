set -u
"$JUDGE" run topk my.cu
