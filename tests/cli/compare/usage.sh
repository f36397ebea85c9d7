set -u
"$JUDGE" compare one.json
