"""What a comparison measured: medians, ratios, and the table and the CSV file of them."""

import csv
import dataclasses
import math
import statistics

UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def readable(seconds):
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def geometric_mean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


@dataclasses.dataclass
class Row:
    """A kernel at a local size; an answer with all samples for each implementation."""
    kernel: str
    local: str
    own_default: bool  # the local size that the program would choose
    answers: list


class Results:
    """`clock` is "wall" or "cpu", `statistic` "median" or "min"."""

    def __init__(self, names, clock, statistic):
        self.names, self.clock = names, clock
        self.statistic = statistics.median if statistic == "median" else min
        self.described = f"{statistic} of the {'time' if clock == 'wall' else 'processor time'}"
        self.rows = []

    def time(self, row, which):
        answer = row.answers[which]
        samples = getattr(answer, self.clock)
        return self.statistic(samples) if samples and not answer.error else None

    def speedup(self, row, peer):
        """How many times faster the first implementation is than `peer`."""
        ours, theirs = self.time(row, 0), self.time(row, peer)
        return theirs / ours if ours and theirs else None

    def against_best(self, row):
        ratios = [self.speedup(row, peer) for peer in range(1, len(self.names))]
        return min((ratio for ratio in ratios if ratio), default=None)

    def mean(self, rows, ratio):
        return geometric_mean(filter(None, map(ratio, rows)))

    def write_csv(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["kernel", "local size", "own default", "implementation", "repetitions",
                          "median seconds", "least seconds", "median processor seconds",
                          "least processor seconds", "error"])
            for row in self.rows:
                for name, answer in zip(self.names, row.answers):
                    figures = [f"{f(samples):.9f}" if samples else ""
                               for samples in (answer.wall, answer.cpu)
                               for f in (statistics.median, min)]
                    out.writerow([row.kernel, row.local, int(row.own_default), name,
                                  len(answer.wall), *figures, answer.error])

    def markdown(self):
        head = ["kernel", "local size", *self.names, *(f"{name} / {self.names[0]}"
                                                       for name in self.names[1:])]
        lines = [f"Each figure is the {self.described}. A ratio above 1 says that "
                 f"{self.names[0]} is faster.", "", self._line(head),
                 "|" + "---|" * len(head)]
        lines += [self._line([f"`{row.kernel}`", row.local, *self._times(row), *self._ratios(row)])
                  for row in self.rows]
        for title, rows in (("own default", [r for r in self.rows if r.own_default]),
                            ("every row", self.rows)):
            means = [f"**{self.mean(rows, lambda r, p=peer: self.speedup(r, p)):.2f}**"
                     for peer in range(1, len(self.names))]
            lines.append(self._line(["**geometric mean**", title, *[""] * len(self.names), *means]))
        if len(self.names) > 2:
            best = self.mean(self.rows, self.against_best)
            lines += ["", f"Against the best peer of each row: {best:.2f}."]
        return "\n".join(lines) + "\n"

    def _times(self, row):
        times = (self.time(row, which) for which in range(len(self.names)))
        return [readable(time) if time else "failed" for time in times]

    def _ratios(self, row):
        ratios = (self.speedup(row, peer) for peer in range(1, len(self.names)))
        return [f"{ratio:.2f}" if ratio else "" for ratio in ratios]

    @staticmethod
    def _line(cells):
        return "| " + " | ".join(cells) + " |"
