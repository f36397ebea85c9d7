set -u
"$JUDGE" gen topkk
