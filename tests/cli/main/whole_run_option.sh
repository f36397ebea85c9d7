#!/bin/sh
set -u
"$JUDGE" --jsn x.json
