"""What a library has of thread-local variables is little: the loader keeps few bytes for libraries
that are opened later and use them without a call (core/thread_local.h)."""

import struct
import sys

MOST_BYTES = 320  # 32 of them the C++ library's
PT_TLS = 7


def thread_local_bytes(elf: bytes) -> int:
    assert elf[:5] == b"\x7fELF\x02", "not an ELF file of 64 bits"
    (table,) = struct.unpack_from("<Q", elf, 0x20)
    entry_bytes, count = struct.unpack_from("<HH", elf, 0x36)
    total = 0
    for at in range(table, table + count * entry_bytes, entry_bytes):
        (kind,) = struct.unpack_from("<I", elf, at)
        (in_memory,) = struct.unpack_from("<Q", elf, at + 0x28)
        if kind == PT_TLS:
            total += in_memory
    return total


with open(sys.argv[1], "rb") as library:
    found = thread_local_bytes(library.read())
print(f"{found} bytes of at most {MOST_BYTES}")
sys.exit(None if 0 < found <= MOST_BYTES else "too many, or none are found")
