#!/bin/sh
set -u
"$JUDGE" show topk
