#!/bin/sh
set -u
"$JUDGE" board
