#!/bin/sh
set -u
"$JUDGE" lst
