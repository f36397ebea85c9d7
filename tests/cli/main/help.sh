#!/bin/sh
set -u
# every command of commands.def is listed
"$JUDGE" --help >help.txt
for command in list run bench board show check compare gen profile doctor new clean; do
    grep -q "^  $command " help.txt || echo "not listed: $command"
    "$JUDGE" "$command" --help >"$command.txt" || echo "no help: $command"
    grep -q "^Usage: judge $command" "$command.txt" || echo "no usage: $command"
done
