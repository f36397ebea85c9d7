set -u
"$JUDGE" run reducton
