#!/bin/sh
set -u
# solutions with kind, expectation and idea; cases with tags; nothing wider than 100 columns
"$JUDGE" list topk >out.txt
awk 'length > 100 { print "too wide: " $0 }' out.txt
grep -c '^  reject ' out.txt >/dev/null
grep '^  reject    rejects/oob_write ' out.txt | tr -s ' '
grep '^  site_basic_5 ' out.txt
