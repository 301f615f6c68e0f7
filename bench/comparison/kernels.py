"""Runs the kernels on Weft and on every other OpenCL implementation of the machine, in turn.

A process for each implementation lives through the comparison. For each kernel and local size they
run one after the other, round by round, so that what else the machine does meets all of them. The
first run of each is compared with the host and not measured.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

from comparison import plot, processes
from comparison.results import Results, Row


def arguments(words, binary, weft):
    parser = argparse.ArgumentParser(prog="compare kernels", description=__doc__.splitlines()[0])
    parser.add_argument("--icd", action="append", default=[],
                        help="another implementation's ICD file (default: all that the loader shows)")
    parser.add_argument("--weft", default=str(weft), help="Weft's ICD file")
    parser.add_argument("--filter", default=".", help="regular expression over kernels' names")
    parser.add_argument("--default-only", action="store_true", help="only programs' own local sizes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=3, help="of a kernel in each round")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu is the process's time on all processors: for a machine in use")
    parser.add_argument("--statistic", choices=("median", "min"), default="median")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one answer")
    parser.add_argument("--binary", default=str(binary))
    parser.add_argument("--out", default="kernels", help="writes OUT.md, OUT.csv and OUT.svg")
    return parser.parse_args(words)


def names_of(implementations):
    """A short name for each: the first word of its platform's, or its ICD file's where that is taken."""
    names = []
    for one in implementations:
        words = one.platform.replace("(R)", "").split(",")[0].split()
        name = {"Portable": "PoCL"}.get(words[0], words[0]) if words else one.name
        names.append(name if name not in names else one.name)
    return names


def measure(options, implementations, case, local):
    answers = [processes.Answer() for _ in implementations]
    for _ in range(options.rounds):
        for answer, one in zip(answers, implementations):
            if answer.error:
                continue
            more = one.measure(case["name"], local, options.repetitions)
            answer.wall += more.wall
            answer.cpu += more.cpu
            answer.error = more.error
    return Row(case["name"], case["locals"][local], local == 0, answers)


def report(results, row):
    cells = [f"{name} {'failed: ' + answer.error[:80] if answer.error else cell}"
             for name, answer, cell in zip(results.names, row.answers, results._times(row))]
    print(f"{row.kernel} {row.local}: " + ", ".join(cells), file=sys.stderr, flush=True)


def main(words, binary, weft):
    options = arguments(words, binary, weft)
    listed = subprocess.run([options.binary, "list"], stdout=subprocess.PIPE, check=True)
    cases = [case for case in json.loads(listed.stdout) if re.search(options.filter, case["name"])]
    icds = [options.weft, *options.icd] if options.icd else processes.installed(pathlib.Path(options.weft))
    implementations = [processes.Implementation(options.binary, icd, options.timeout) for icd in icds]
    results = Results(names_of(implementations), options.clock, options.statistic)
    for case in cases:
        for local in range(1 if options.default_only else len(case["locals"])):
            results.rows.append(measure(options, implementations, case, local))
            report(results, results.rows[-1])
    for one in implementations:
        one.close()
    table = "".join(f"- {name}: {one.platform}\n" for name, one in zip(results.names, implementations))
    table += "\n" + results.markdown()
    pathlib.Path(options.out + ".md").write_text(table, encoding="utf-8")
    results.write_csv(options.out + ".csv")
    if len(implementations) > 1:
        pathlib.Path(options.out + ".svg").write_text(plot.svg(results), encoding="utf-8")
    print(table)
    return 1 if any(row.answers[0].error for row in results.rows) else 0
