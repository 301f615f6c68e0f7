"""weft-bench-kernels in a process for each implementation, which answers one request at a time."""

import json
import os
import pathlib
import select
import subprocess
import tempfile

import dataclasses


@dataclasses.dataclass
class Answer:
    """Seconds of each repetition, by the clock and on processors; or what went wrong."""
    wall: list = dataclasses.field(default_factory=list)
    cpu: list = dataclasses.field(default_factory=list)
    error: str = ""


class Implementation:
    """One OpenCL implementation. Its process starts at the first request, and again after a crash."""

    def __init__(self, binary, icd, seconds):
        self.binary, self.icd, self.seconds = binary, str(icd), seconds
        self.cache = tempfile.TemporaryDirectory(prefix="weft-compare-")
        self.process = None
        self.name = pathlib.Path(icd).stem
        self.platform = self._start()

    def _start(self):
        chosen = {"OCL_ICD_VENDORS": self.icd, "WEFT_CACHE_DIR": self.cache.name,
                  "POCL_CACHE_DIR": self.cache.name}
        self.process = subprocess.Popen(
            [self.binary, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, **chosen})
        return self._read().get("platform", "")

    def _read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
        if not ready:
            self.close()
            return {"error": f"no answer in {self.seconds:g} s"}
        # A process answers in one line that it flushes whole.
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.process = None
            return {"error": f"the process ended with {status}"}
        return json.loads(line)

    def measure(self, kernel, local, repetitions):
        if self.process is None:
            self._start()
        if self.process is None:
            return Answer(error="the process does not start")
        self.process.stdin.write(f"{kernel} {local} {repetitions}\n".encode())
        self.process.stdin.flush()
        reply = self._read()
        if "error" in reply:
            return Answer(error=reply["error"])
        return Answer([wall for wall, _ in reply["samples"]], [cpu for _, cpu in reply["samples"]])

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def installed(weft):
    """ICD files: Weft's first, then every other that the loader would show."""
    chosen = os.environ.get("OCL_ICD_VENDORS")
    place = pathlib.Path(chosen or "/etc/OpenCL/vendors")
    others = sorted(place.glob("*.icd")) if place.is_dir() else [place]
    return [weft, *(icd for icd in others if icd.stem != "weft")]
