"""What a page says that a command prints, against what it prints.

In an indented block, a line that begins with the command `octep`, wherever it lies, is one; those about a file of this
repository are run. The indented lines after it, to the next command or heading, are lines of its output, in their order and
not all of them. Blanks count as one.
"""

import os
import shlex
import subprocess
import sys


def words(line):
    return " ".join(line.split())


def main(octep, *pages):
    for page in pages:
        hold(octep, page)


def hold(octep, page):
    output, at, held = None, 0, 0
    wrong = []

    def run(command):
        said = subprocess.run([octep, *command], capture_output=True, text=True, check=True)
        return [words(line) for line in said.stdout.splitlines()]

    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                output = None
            if not line.startswith("    ") or not line.strip():
                continue
            if os.path.basename(line.split()[0]) == "octep":
                command = shlex.split(line, comments=True)[1:]
                output, at = (run(command), 0) if any(word.startswith("test/captures/") for word in command) else (None, 0)
            elif output is not None:
                try:
                    at = output.index(words(line), at) + 1
                    held += 1
                except ValueError:
                    wrong.append(f"{page}:{number}: not printed, or not there: {line.strip()}")
    if wrong or held == 0:
        sys.exit("\n".join(wrong) or f"{page}: no line of it is held against anything")


if __name__ == "__main__":
    main(*sys.argv[1:])
