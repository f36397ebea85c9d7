set -u
"$JUDGE" run my.cu
