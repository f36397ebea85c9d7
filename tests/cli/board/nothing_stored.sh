set -u
"$JUDGE" board
