#!/bin/sh
set -u
mkdir -p "$TMP/build/so" "$TMP/build/cases" "$TMP/build/results"
"$JUDGE" clean | sed "s|$TMP|DIR|"
ls "$TMP/build"
