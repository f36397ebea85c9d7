#!/bin/sh
set -u
"$JUDGE" list topkk
