#!/bin/sh
set -u
"$JUDGE" run topk my.cu
