#!/bin/sh
set -u
"$JUDGE" run topk --case site_basic_6
