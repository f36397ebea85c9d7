#!/bin/sh
set -u
"$JUDGE" compare one.json
