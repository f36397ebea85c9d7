set -u
"$JUDGE" lst
