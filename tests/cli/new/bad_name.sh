#!/bin/sh
set -u
"$JUDGE" new topk/My-Kernel
