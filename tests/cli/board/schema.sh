#!/bin/sh
set -u
# the results files of these tests follow docs/results.schema.json, and so does what the judge
# itself writes; a file with one key too many does not
WARPJUDGE_CUDART=$(dirname "$JUDGE")/standin/libcudart.so.13
export WARPJUDGE_CUDART
python3 "$ROOT/tests/cli/results.py" made.json flags=AB
"$JUDGE" run dot/rejects/zeros --backend standin --json judged.json >/dev/null
sed 's/"format": 1/"format": 1, "extra": 2/' made.json >bad.json
/usr/bin/python3 - "$ROOT/docs/results.schema.json" made.json judged.json bad.json <<'END'
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as f:
        errors = list(validator.iter_errors(json.load(f)))
    print(name, "valid" if not errors else errors[0].message)
END
