"""The dependency rule (ARCHITECTURE.md, layers): who may include whom."""

import re

import tree

# What each folder may include besides itself and `core`, which everyone may. The first prefix that
# matches a file is the one that counts.
MAY_INCLUDE = (
    ("core/", ()),
    ("profiling/", ()),
    ("partition/", ("profiling/",)),
    ("scheduler/", ("partition/", "profiling/")),
    ("compiler/client/", ("compiler/",)),
    ("compiler/", ()),
    ("backends/common/", ()),
    ("backends/cpu/", ("backends/common/",)),
    ("backends/hip/", ("backends/common/",)),
    ("backends/level_zero/", ("backends/common/",)),
    ("api/", ("profiling/", "partition/", "scheduler/", "compiler/", "backends/")),
    # Programs around the library see it as any OpenCL program does, plus Weft's extension header.
    # The command also reads the performance store and runs the policies without a device.
    ("tools/", ("api/cl_weft_ext.h", "profiling/", "partition/")),
    ("bench/", ("api/cl_weft_ext.h",)),
    ("examples/", ()),
    ("tests/", ("",)),
)
OPENCL_CLIENTS = ("tools/", "bench/", "examples/")

# Headers of third parties, and the folders that may see them.
THIRD_PARTY = (
    (re.compile(r"^(llvm|llvm-c|clang|clang-c|lld)/"), ("compiler/", "tests/compiler/")),
    (re.compile(r"^hip/"), ("backends/hip/", "tests/")),
    (re.compile(r"^level_zero/"), ("backends/level_zero/", "tests/")),
)
# What libweft.so links of the compiler: free of LLVM.
NO_LLVM = "compiler/client/"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
TOP = re.compile(r"^(core|profiling|partition|scheduler|compiler|backends|api|tools|bench|tests)/")


def rule_for(name):
    for prefix, others in MAY_INCLUDE:
        if name.startswith(prefix):
            return prefix, others
    return None


def allowed(name, header):
    rule = rule_for(name)
    if rule is None:
        return False
    prefix, others = rule
    core = () if prefix in OPENCL_CLIENTS else ("core/",)
    return any(header.startswith(p) for p in (prefix, *core, *others))


def check(files):
    for file in files:
        if not file.is_code and file.suffix not in (".def", ".inc"):
            continue
        for match in INCLUDE.finditer(file.text):
            header = match.group(1)
            line = file.text.count("\n", 0, match.start()) + 1
            where = f"{file.name}:{line}"
            if header.startswith("."):
                yield f'{where}: "{header}": includes are written from the top of the tree'
            elif TOP.match(header) and not allowed(file.name, header):
                yield f'{where}: "{header}" breaks the dependency rule'
            for pattern, folders in THIRD_PARTY:
                if not pattern.match(header):
                    continue
                if not file.name.startswith(folders) or file.name.startswith(NO_LLVM):
                    yield f"{where}: <{header}> belongs to {' '.join(folders)}"


if __name__ == "__main__":
    tree.main(check)
