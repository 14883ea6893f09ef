#!/usr/bin/env python3
"""compile_time.py INCLUDE_DIR COMPILER...: what a consumer pays for octep/octep.hpp, the median of three, in seconds of
processor time (not of the clock: the machine may be busy with other tests)."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LIMIT_S = 1.0
UNIT = "#include <octep/octep.hpp>\n"


def user_seconds(command):
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime


def check(include_dir, compilers, limit_s=LIMIT_S):
    """Returns a list of lines to print, and whether every compiler kept the limit."""
    lines = []
    kept = bool(compilers)
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder, "unit.cpp")
        unit.write_text(UNIT, encoding="utf-8")
        for compiler in compilers:
            command = [compiler, "-std=c++20", "-O2", "-I", include_dir, "-c", str(unit), "-o", f"{folder}/unit.o"]
            try:
                median = statistics.median(user_seconds(command) for _ in range(3))
            except subprocess.CalledProcessError as error:
                lines.append(f"{compiler}: {error}")
                kept = False
                continue
            lines.append(f"{compiler}: {median:.2f} s, limit {limit_s:.2f} s")
            kept = kept and median < limit_s
    return lines, kept


if __name__ == "__main__":
    report, ok = check(sys.argv[1], sys.argv[2:])
    print("\n".join(report))
    sys.exit(0 if ok else 1)
