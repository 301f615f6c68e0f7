"""The project's own files, and C++ text with comments and literals blanked out."""

import pathlib
import re
import sys

FOLDERS = (
    "api", "backends", "bench", "cmake", "compiler", "core", "docs", "examples", "partition",
    "profiling", "scheduler", "scripts", "tests", "tools", ".ci",
)
CODE = {".h", ".hpp", ".c", ".cpp", ".cl"}


class File:
    """One file of the tree; `name` is its path from the top, with slashes."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.suffix = pathlib.PurePosixPath(name).suffix
        self.is_code = self.suffix in CODE


def files(root):
    """Every text file of the project, sorted by name."""
    root = pathlib.Path(root)
    paths = [p for p in root.iterdir() if p.is_file()]
    for folder in FOLDERS:
        paths += [p for p in (root / folder).rglob("*") if p.is_file()]
    for path in sorted(paths):
        if "__pycache__" in path.parts or path.name == ".git":
            continue
        try:
            yield File(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # a picture or another binary


_TOKEN = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"
      | "(?:\\.|[^"\\\n])*"
      | '(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE,
)


def blank(text):
    """`text` with comments and literals replaced by blanks; the lines stay where they are."""

    def spaces(match):
        token = match.group()
        if token.startswith("'") and match.start() and text[match.start() - 1].isalnum():
            return token  # a digit separator, 1'000'000
        return re.sub(r"[^\n]", " ", token)

    return _TOKEN.sub(spaces, text)


def main(check):
    """Runs check(files) over the tree named on the command line; prints what it yields."""
    tree = list(files(sys.argv[1]))
    assert tree, "no files found"
    problems = list(check(tree))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {len(tree)} files")
    sys.exit(1 if problems else 0)
