set -u
"$JUDGE" check tokp
