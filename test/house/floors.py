#!/usr/bin/env python3
"""floors.py INCLUDE_DIR: the core is built in floors, and each header stands on lower ones only.

A header of INCLUDE_DIR/octep (less host/) has one line `// Floor N.`, includes headers of the core by <octep/...> and
nothing else, each of a strictly lower floor, and uses none of the words that a kernel has no meaning for.
"""

import pathlib
import re
import sys

FLOOR = re.compile(r"^// Floor (\d+)\.$", re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
OCTEP_INCLUDE = re.compile(r'[<"](octep/[\w./-]+\.hpp)[>"]$')
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
FORBIDDEN = {
    r"\b\w*_thread_fence\b": "a fence: ThreadSanitizer does not model it; order the access itself",
    r"\b(?:_KERNEL|__FreeBSD__|__linux__|__KERNEL__)\b": "asks which kernel this is; the glue's business",
    r"<=>": "three-way comparison needs <compare>",
    r"\bnew\b": "new of any kind; placement new lives in octep_core.cc and in host code",
    r"\bdelete\b(?!\s*[;(])": "delete of an object",
    r"\b(?:throw|try|catch|dynamic_cast|typeid|thread_local)\b": "not in a kernel",
}


def check(include_dir):
    """Returns the number of headers and a list of complaints."""
    root = pathlib.Path(include_dir)
    headers = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / "octep").rglob("*.hpp"))
        if "host" not in path.relative_to(root / "octep").parts
    }
    wrong = []
    floors = {}
    for name, text in headers.items():
        found = FLOOR.findall(text)
        if len(found) == 1:
            floors[name] = int(found[0])
        else:
            wrong.append(f"{name}: has {len(found)} lines `// Floor N.`, needs one")
    for name, text in headers.items():
        for operand in INCLUDE.findall(text):
            operand = re.sub(r"\s*//.*$", "", operand)
            octep = OCTEP_INCLUDE.match(operand)
            if not octep:
                wrong.append(f"{name}: includes {operand}; the core includes <octep/...> only")
            elif octep[1] not in headers:
                wrong.append(f"{name}: includes {octep[1]}, which is not in the core")
            elif name in floors and octep[1] in floors and floors[octep[1]] >= floors[name]:
                wrong.append(f"{name}: floor {floors[name]}, includes {octep[1]} of floor {floors[octep[1]]}")
        code = COMMENT_OR_TEXT.sub(" ", text)
        for pattern, reason in FORBIDDEN.items():
            for match in re.finditer(pattern, code):
                wrong.append(f"{name}: `{match[0]}`: {reason}")
    return len(headers), wrong


if __name__ == "__main__":
    count, complaints = check(sys.argv[1])
    print("\n".join(complaints + [f"{count} headers, {len(complaints)} complaints"]))
    sys.exit(1 if complaints or count == 0 else 0)
