set -u
"$JUDGE" run topk/radix_selct
