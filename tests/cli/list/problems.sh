#!/bin/sh
set -u
"$JUDGE" list | grep '^[a-z]' | cut -d' ' -f1 | head -5
