#!/bin/sh
set -u
"$JUDGE" check tokp
