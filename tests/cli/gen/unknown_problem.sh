#!/bin/sh
set -u
"$JUDGE" gen topkk
