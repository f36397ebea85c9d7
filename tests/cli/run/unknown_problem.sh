#!/bin/sh
set -u
"$JUDGE" run reducton
