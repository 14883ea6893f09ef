#!/usr/bin/env python3
"""counted.py VALGRIND COUNTED FIGURES: do the engine's ways still cost as many instructions as FIGURES says?

Runs COUNTED under callgrind once for each line of FIGURES, `NAME INSTRUCTIONS`, a thousand times each, and prints a line
each. More than TOLERANCE above the figure is a failure: something became dearer. As much below is one too: the figure no
longer holds anything back, and is to be lowered. New figures are taken with --write.
"""
import re
import subprocess
import sys

TIMES = 1000
# What a compiler's point release moves; a change of the code that anybody would argue about moves more.
TOLERANCE = 0.03


def count(valgrind, program, name):
    run = subprocess.run(
        [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
         "--toggle-collect=measured", program, name],
        capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        sys.exit(f"{program} {name}: status {run.returncode}\n{run.stderr}")
    return int(found.group(1)) / TIMES


def main(argv):
    write = "--write" in argv
    valgrind, program, path = [a for a in argv if a != "--write"]
    with open(path, encoding="utf-8") as figures:
        lines = figures.read().splitlines()
    failed = False
    for at, line in enumerate(lines):
        if line.startswith("#") or not line:
            continue
        name, figure = line.split()
        now = count(valgrind, program, name)
        change = now / float(figure) - 1
        verdict = "holds" if abs(change) <= TOLERANCE else "dearer" if change > 0 else "cheaper: lower the figure"
        print(f"{name:<22} {now:>9.0f} instructions, {figure} expected, {change:+.1%}: {verdict}")
        failed |= verdict != "holds"
        lines[at] = f"{name} {now:.0f}"
    if write:
        with open(path, "w", encoding="utf-8") as figures:
            figures.write("\n".join(lines) + "\n")
        return 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
