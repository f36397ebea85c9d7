#!/bin/sh
set -u
"$JUDGE" new topk
