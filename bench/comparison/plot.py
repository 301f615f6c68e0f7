"""A plot of the ratios as one SVG file, readable on light and on dark ground."""

import math
from xml.sax.saxutils import escape

COLOURS = ("#d9822b", "#2b83d9", "#3a9d5d", "#a05fc0", "#c0504d", "#808080")
WIDTH, LABELS, RIGHT, ROW, TOP, BOTTOM = 900, 190, 30, 17, 70, 46
STYLE = """
text { font: 12px sans-serif; fill: #3c3c3c; }
.grid { stroke: #8885; } .one { stroke: #888; stroke-width: 1.5; } .stem { stroke: #8888; }
@media (prefers-color-scheme: dark) { text { fill: #d0d0d0; } }
"""


class Axis:
    """Ratios on a logarithmic scale, from and to a power of two."""

    def __init__(self, ratios):
        self.low = math.floor(min([-1, *(math.log2(r) for r in ratios)]))
        self.high = math.ceil(max([1, *(math.log2(r) for r in ratios)]))

    def x(self, ratio):
        share = (math.log2(ratio) - self.low) / (self.high - self.low)
        return LABELS + share * (WIDTH - LABELS - RIGHT)

    def ticks(self):
        return [2.0 ** power for power in range(self.low, self.high + 1)]


def label(ratio):
    return f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}"


def dots(results, row, y, axis):
    ratios = [(peer, results.speedup(row, peer)) for peer in range(1, len(results.names))]
    ratios = [(peer, ratio) for peer, ratio in ratios if ratio]
    if not ratios:
        return
    ends = sorted(axis.x(ratio) for _, ratio in ratios)
    yield f'<line class="stem" x1="{ends[0]:.1f}" x2="{ends[-1]:.1f}" y1="{y}" y2="{y}"/>'
    for peer, ratio in ratios:
        yield (f'<circle cx="{axis.x(ratio):.1f}" cy="{y}" r="4.5" fill="{COLOURS[peer - 1]}">'
               f"<title>{escape(row.kernel)}: {ratio:.2f} x {escape(results.names[peer])}</title></circle>")


def frame(results, axis, bottom):
    yield (f'<text x="{LABELS}" y="20" style="font-size:15px">{escape(results.names[0])}: times as fast '
           f"as its peers, at each program's own local size</text>")
    for peer, name in enumerate(results.names[1:], 1):
        x = LABELS + 150 * (peer - 1)
        yield f'<circle cx="{x + 5}" cy="40" r="4.5" fill="{COLOURS[peer - 1]}"/>'
        yield f'<text x="{x + 15}" y="44">{escape(name)}</text>'
    for tick in axis.ticks():
        x, kind = axis.x(tick), "one" if tick == 1 else "grid"
        yield f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" y2="{bottom}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{label(tick)}</text>'
    yield (f'<text x="{LABELS}" y="{bottom + 36}">slower to the left of 1, faster to the right; '
           f"{escape(results.described)}</text>")


def svg(results):
    rows = [row for row in results.rows if row.own_default and results.against_best(row)]
    rows.sort(key=results.against_best, reverse=True)
    peers = range(1, len(results.names))
    means = [results.mean(rows, lambda r, p=peer: results.speedup(r, p)) for peer in peers]
    axis = Axis([ratio for row in rows for peer in peers if (ratio := results.speedup(row, peer))])
    bottom = TOP + ROW * (len(rows) + 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + BOTTOM}">',
             f"<style>{STYLE}</style>", *frame(results, axis, bottom)]
    for number, row in enumerate(rows):
        y = TOP + ROW * number
        parts.append(f'<text x="{LABELS - 12}" y="{y + 4}" text-anchor="end">{escape(row.kernel)}</text>')
        parts += dots(results, row, y, axis)
    y = TOP + ROW * len(rows) + 2
    parts.append(f'<text x="{LABELS - 12}" y="{y + 4}" text-anchor="end" '
                 f'style="font-weight:bold">geometric mean</text>')
    for peer, mean in zip(peers, means):
        x = axis.x(mean)
        parts.append(f'<path d="M{x - 6:.1f} {y}l6 -6l6 6l-6 6z" fill="{COLOURS[peer - 1]}">'
                     f"<title>{mean:.2f}</title></path>")
    return "\n".join([*parts, "</svg>"]) + "\n"
