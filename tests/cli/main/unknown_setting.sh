#!/bin/sh
set -u
# a setting with a typing error is refused, with the nearest name
WARPJUDGE_BAKEND=gpu "$JUDGE" list
