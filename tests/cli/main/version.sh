#!/bin/sh
set -u
# the version is one line
"$JUDGE" --version
