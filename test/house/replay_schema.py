"""What `octep replay --json` prints against docs/replay.schema.json, which knows every key and no other."""

import copy
import json
import subprocess
import sys

import jsonschema

CAPTURES = ["test/captures/lan-nat.pcapng", "test/captures/wan-nat.pcapng"]
TUPLE = "tcp:192.168.1.10:50000-192.0.2.10:80"
RUNS = [
    [],
    ["--nat"],
    ["--compare", "fast_make=0", "--compare-device"],
    ["--set", "auto=0"],
    ["--why", TUPLE],
    ["--why", "tcp:192.0.2.1:1-192.0.2.2:2"],
    ["--why", TUPLE, "--at", "2"],
]


def main(octep, path):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for capture in CAPTURES:
        for options in RUNS:
            said = subprocess.run([octep, "replay", "--json", *options, capture], capture_output=True, text=True, check=True)
            printed = json.loads(said.stdout)
            validator.validate(printed)
            # A schema that takes anything would take these.
            for key in printed:
                less, other = copy.deepcopy(printed), copy.deepcopy(printed)
                del less[key]
                other["another"] = 1
                for wrong in (less, other):
                    if validator.is_valid(wrong):
                        sys.exit(f"the schema takes {' '.join(options) or 'a report'} without {key}, or with a key it does not know")


if __name__ == "__main__":
    main(*sys.argv[1:])
