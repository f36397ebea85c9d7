#!/bin/sh
set -u
"$JUDGE" run topk --tag edgx
