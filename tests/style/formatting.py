"""clang-format has nothing to change. Usage: formatting.py ROOT CLANG_FORMAT"""

import subprocess
import sys

import tree


def check(files):
    names = [f.name for f in files if f.suffix in (".h", ".hpp", ".c", ".cpp")]
    result = subprocess.run(
        [sys.argv[2], "--dry-run", "-Werror", "--ferror-limit=1", *names],
        cwd=sys.argv[1], stderr=subprocess.PIPE, text=True, check=False)
    for line in result.stderr.splitlines():
        if "error:" in line:
            yield line
    if result.returncode != 0 and "error:" not in result.stderr:
        yield f"clang-format: {result.stderr.strip() or result.returncode}"


if __name__ == "__main__":
    tree.main(check)
