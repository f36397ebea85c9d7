#!/bin/sh
set -u
"$JUDGE" bench topk --flush wet
