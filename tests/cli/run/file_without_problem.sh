#!/bin/sh
set -u
"$JUDGE" run my.cu
