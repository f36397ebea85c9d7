set -u
"$JUDGE" list topkk
