#!/bin/sh
set -u
"$JUDGE" profile topk
