#!/usr/bin/env python3
"""Shows how util.gpu lags behind the actual activity of a GPU, as figures and as a plot.

Input: tests/fixtures/nvml/bursty.csv, samples taken while a program ran kernels at known times, and bursty.truth.json, those
times. Without arguments it prints the figures, with `--svg` the plot docs/images/counter_lag.svg. docs/guides/sampling.md
shows both, and tests compare them with this output.
"""

import csv
import json
import statistics
import sys
from pathlib import Path

NVML = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "nvml"
SETTLED_S = 0.3  # until the counter no longer includes earlier activity


def recorded():
    """Samples [(s, %)] and spans [(begin, end, kind)], in seconds since the first sample."""
    with (NVML / "bursty.csv").open() as file:
        rows = [(float(row["t_s"]), float(row["util_gpu"])) for row in csv.DictReader(file)]
    start = rows[0][0]
    spans = json.loads((NVML / "bursty.truth.json").read_text())
    return [(t - start, u) for t, u in rows], [(max(a - start, 0), b - start, kind) for a, b, kind in spans]


def busy_share(spans, begin, end):
    return sum(max(0, min(b, end) - max(a, begin)) for a, b, _ in spans) / (end - begin)


def delay(samples, begin, end, good):
    """ms from `begin` to the first sample before `end` that is good."""
    return next((round((t - begin) * 1e3) for t, u in samples if begin <= t < end and good(u)), None)


def to_text(samples, spans):
    long_spans = [(a, b) for a, b, kind in spans if kind == "busy"]
    bursts = [(a, b) for a, b, kind in spans if kind == "burst"]
    idle_until = [a for a, _ in long_spans[1:]] + [bursts[0][0]]
    # The first span began before sampling started.
    rises = [delay(samples, a, b, lambda u: u > 0) for a, b in long_spans[1:]]
    full = [delay(samples, a, b, lambda u: u == 100) for a, b in long_spans[1:]]
    falls = [delay(samples, b, until, lambda u: u < 100) for (_, b), until in zip(long_spans, idle_until)]
    empty = [delay(samples, b, until, lambda u: u == 0) for (_, b), until in zip(long_spans, idle_until)]
    changes = [t for (_, before), (t, after) in zip(samples, samples[1:]) if before != after]
    steps = [b - a for a, b in zip(changes, changes[1:])]
    begin, end = bursts[0][0], bursts[-1][1]
    seen = [u for t, u in samples if begin + SETTLED_S <= t <= end]
    return f"""\
samples                                {len(samples)} in {samples[-1][0]:.2f} s
the counter's value changes            every {statistics.median(steps) * 1e3:.0f} ms (median)
a kernel starts after idle time:       first sample above 0 after {min(rises)} to {max(rises)} ms, 100 after {min(full)} to {max(full)} ms
the last kernel ends:                  first sample below 100 after {min(falls)} to {max(falls)} ms, 0 after {min(empty)} to {max(empty)} ms
{len(bursts)} bursts of {statistics.fmean(b - a for a, b in bursts) * 1e3:.0f} ms, one each {(bursts[-1][0] - begin) / (len(bursts) - 1) * 1e3:.0f} ms:     busy {busy_share(spans, begin, end) * 100:.1f} % of the time; samples {min(seen):.0f} to {max(seen):.0f} %, mean {statistics.fmean(seen):.1f} %
the whole recording:                   busy {busy_share(spans, 0, samples[-1][0]) * 100:.1f} % of the time; mean of the samples {statistics.fmean(u for _, u in samples):.1f} %
"""


WIDTH, LEFT, TOP, HEIGHT, BARS = 900, 48, 28, 130, 22


def to_svg(samples, spans):
    end = samples[-1][0]

    def x(t):
        return f"{LEFT + (WIDTH - LEFT - 12) * t / end:.1f}"

    def y(u):
        return f"{TOP + HEIGHT * (1 - u / 100):.1f}"

    base = TOP + HEIGHT + 14
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {base + BARS + 40}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{base + BARS + 40}" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="16" fill="#333333">util.gpu as sampled (line), and when a kernel was running (bars)</text>']
    for u in (0, 50, 100):
        parts.append(f'<path d="M{LEFT} {y(u)}H{WIDTH - 12}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{float(y(u)) + 4:.1f}" text-anchor="end" fill="#333333">{u} %</text>')
    path = f"M{x(samples[0][0])} {y(samples[0][1])}"
    for (_, before), (t, u) in zip(samples, samples[1:]):
        if u != before:
            path += f"H{x(t)}V{y(u)}"
    parts.append(f'<path d="{path}H{x(end)}" fill="none" stroke="#1f6fb4" stroke-width="1.5"/>')
    for a, b, _ in spans:
        parts.append(f'<rect x="{x(a)}" y="{base}" width="{float(x(b)) - float(x(a)):.1f}" height="{BARS}" fill="#3a8a4d"/>')
    for second in range(int(end) + 1):
        parts.append(f'<text x="{x(second)}" y="{base + BARS + 18}" text-anchor="middle" fill="#333333">{second} s</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--svg"]):
        sys.exit("usage: draw_counter_lag.py [--svg]")
    sys.stdout.write((to_svg if sys.argv[1:] else to_text)(*recorded()))
