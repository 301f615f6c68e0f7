"""What may not stand in a file: function-like macros, unowned notes, paths of one machine."""

import re

import tree

# Where function-like macros may be defined, each with its reason.
MACROS_ALLOWED = (
    (re.compile(r"\.def$"), "tables of rows"),
    (re.compile(r"^tests/"), "test fixtures"),
    (re.compile(r"^core/handle\.h$"), "one line per handle type"),
    (re.compile(r"^compiler/pipeline/absent_targets\.cpp$"), "one line per target"),
    (re.compile(r"^compiler/builtins/cl/"), "OpenCL C has no templates"),
)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)
# A row's meaning, defined for the table that is included next.
TABLE_INCLUDED = re.compile(r"[^\n]*(\\\n[^\n]*)*\n[ \t]*#[ \t]*include[ \t]*[<\"][^>\"]+\.(def|inc)[>\"]")
# Written in pieces so that this file does not find itself.
NOTE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}-])/(?:ro" r"ot|ho" r"me|wo" r"rk)/\w")
TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def check(files):
    for file in files:
        if file.is_code and not any(p.search(file.name) for p, _ in MACROS_ALLOWED):
            for match in MACRO.finditer(file.text):
                if TABLE_INCLUDED.match(file.text, match.end()):
                    continue
                yield f"{file.name}:{line_of(file.text, match)}: function-like macro {match.group(1)}"
        for pattern, what in ((NOTE, "a note nobody owns"), (MACHINE_PATH, "a path of one machine")):
            for match in pattern.finditer(file.text):
                yield f"{file.name}:{line_of(file.text, match)}: {what}: {match.group()}"
        if file.suffix not in (".md", ".patch"):
            for match in TRAILING.finditer(file.text):
                yield f"{file.name}:{line_of(file.text, match)}: blanks at the end of the line"
        if file.text and not file.text.endswith("\n"):
            yield f"{file.name}: no newline at the end"


if __name__ == "__main__":
    tree.main(check)
