#!/bin/sh
set -u
printf '// @ideea x\nextern "C" void solve() {}\n' >my.cu
"$JUDGE" run topk my.cu
