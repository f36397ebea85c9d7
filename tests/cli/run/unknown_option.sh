#!/bin/sh
set -u
"$JUDGE" run topk --strickt
