"""Sizes: 500 lines a file, 60 a function, 25 an entry point of the API."""

import re

import tree

FILE_LINES = 500
FUNCTION_LINES = 60
ENTRY_POINT_LINES = 25

# Tables may be long: one row a line.
TABLE_SUFFIXES = {".def", ".inc", ".txt", ".md"}
# Files that may be longer, each with its reason.
LONG_FILES = {}
# Functions that may be longer, as "file:function", each with its reason.
LONG_FUNCTIONS = {
    "tests/compiler/builtins/arrays.h:specialValues": "a table of values, one a line",
}

CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
# A parameter list, perhaps followed by qualifiers, then by nothing, a return type or initialisers.
QUALIFIERS = r"(?:\s*(?:const|noexcept|override|final|mutable|try|&&|&)(?:\s*\([^()]*\))?)*\s*"
PLAIN = re.compile(r"\)" + QUALIFIERS + r"$")
TRAILING_RETURN = re.compile(r"\)" + QUALIFIERS + r"->[^;]*$")
INITIALISERS = re.compile(r"\)" + QUALIFIERS + r":(?!:)[^;]*$")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:mutable\b\s*)?$")


def is_member_initialiser(head):
    """`A(int b) : b_` before a `{`: the brace initialises b_, the body is still to come."""
    return bool(INITIALISERS.search(head)) and bool(re.search(r"[\w>]\s*$", head))


def opens_function(head):
    """Does the text before a `{` (since the last `;`, `{` or `}`) make it a function's body?"""
    if LAMBDA.search(head) or PLAIN.search(head) or TRAILING_RETURN.search(head):
        return True
    return not CONTAINER.search(head) and bool(INITIALISERS.search(head))


def name_of(head):
    """The function's name: the identifier before the first parenthesis at depth zero."""
    depth = 0
    for i, c in enumerate(head):
        if c == "(" and depth == 0:
            match = re.search(r"(operator\s*[^\s\w]+|[~\w:]+)\s*$", head[:i])
            if match and match.group(1) not in ("decltype", "requires", "__attribute__", "alignas"):
                return match.group(1)
        depth += (c == "(") - (c == ")")
    return "lambda"


def functions(text):
    """Yields (name, first line, lines) of each function body, outermost only."""
    text = tree.blank(text)
    # A directive cannot open or close a body; blank it with its continuation lines.
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()),
                  text, flags=re.MULTILINE)
    stack = []  # True where the brace belongs to a function
    initialisers = []  # depths of the braces in member initialisers
    start = None
    name = ""
    head_from = 0
    line = 1
    for i, c in enumerate(text):
        if c == "\n":
            line += 1
        elif c == "{":
            inside = bool(stack) and stack[-1]
            head = text[head_from:i].rstrip()
            if not inside and is_member_initialiser(head):
                stack.append(False)
                initialisers.append(len(stack))
                continue
            is_function = inside or opens_function(head)
            if is_function and not inside:
                start, name = line, name_of(head)
            stack.append(is_function)
            head_from = i + 1
        elif c == "}":
            if not stack:
                head_from = i + 1
                continue
            if initialisers and initialisers[-1] == len(stack):
                initialisers.pop()
                stack.pop()
                continue
            was = stack.pop()
            if was and not (stack and stack[-1]):
                yield name, start, line - start + 1
            head_from = i + 1
        elif c == ";":
            head_from = i + 1


def check(files):
    for file in files:
        lines = file.text.count("\n")
        checked = file.is_code or file.suffix in (".py", ".cmake") or file.name.endswith("CMakeLists.txt")
        if checked and lines > FILE_LINES and file.name not in LONG_FILES:
            yield f"{file.name}: {lines} lines; a file has at most {FILE_LINES}"
        if not file.is_code or file.suffix == ".cl":
            continue
        for name, line, size in functions(file.text):
            entry_point = file.name.startswith("api/") and re.match(r"cl[A-Z]", name)
            limit = ENTRY_POINT_LINES if entry_point else FUNCTION_LINES
            if size > limit and f"{file.name}:{name}" not in LONG_FUNCTIONS:
                yield f"{file.name}:{line}: {name} has {size} lines; at most {limit}"


if __name__ == "__main__":
    tree.main(check)
