#!/bin/sh
set -u
# a reject named without its folder
"$JUDGE" run topk/oob_write
