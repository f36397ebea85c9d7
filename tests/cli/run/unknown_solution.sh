#!/bin/sh
set -u
"$JUDGE" run topk/radix_selct
