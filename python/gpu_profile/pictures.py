"""Pictures of a recording as SVG, drawn from its tables: the timeline of its streams, and the roofline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .errors import Error
from .program import report

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["roofline", "timeline"]

PIXELS = 960  # of the plot area
LEFT, RIGHT, TOP, ROW = 150, 20, 34, 26
KINDS = {"kernel": ("kernels", "#3574d4"), "memcpy": ("copies", "#c8641e"), "memset": ("fills", "#4c8c3f")}
FONT = 'font-family="system-ui, sans-serif" font-size="12"'


def timeline(trace: Trace) -> str:
    """Return when each stream of each device ran kernels, copies and fills. Events that share a pixel are one box; the
    paler it is, the less of its time they cover. Raises Error if no device work was recorded."""
    if trace.window_ns <= 0:
        raise Error(4, f"cannot draw a timeline of {trace.path}: no device work was recorded")
    boxes = trace.sql(_boxes(trace.window_ns)).to_dict()
    rows = list(zip(*boxes.values()))
    lanes = sorted({(device, stream) for device, stream, *_ in rows}, key=str)
    if not lanes:
        raise Error(4, f"cannot draw a timeline of {trace.path}: no device work was recorded")
    parts = [_box(lanes.index((device, stream)), what, first, last, busy, trace.window_ns / PIXELS) for device, stream, what, first, last, busy in rows]
    steps = zip(*trace.sql("SELECT start_ns, dur_ns, step FROM steps").to_dict().values())
    height = TOP + ROW * (len(lanes) + 1) + 34
    labels = [_text(LEFT - 8, TOP + ROW * (i + 1.65), f"GPU {device}, stream {stream}", "end") for i, (device, stream) in enumerate(lanes)]
    marks = [part for start, dur, name in steps for part in _step(start, dur, name, trace.window_ns, height)]
    return _svg("Timeline of device work by stream", height, [*marks, *parts, *labels, *_time_axis(trace.window_ns, height), *_legend()])


def roofline(trace: Trace) -> str:
    """Return the roofline: arithmetic intensity and rate of kernels with counters, otherwise of operators with shapes,
    under the peaks of the device. Raises Error, which says why, if neither was recorded."""
    points, roofs = _measured(trace)
    what = "kernels, measured DRAM traffic"
    if not points:
        points, roofs = _modelled(trace)
        what = "operators, modelled bytes"
    if not points:
        raise Error(4, f"cannot draw a roofline of {trace.path}: {' '.join(_notes(trace)) or 'neither counters of kernels nor shapes of operators were recorded'}")
    return _roofline(points, roofs, what)


def _notes(trace: Trace) -> list[str]:
    """Why the analysis of operators has no rows."""
    tables = report(*trace.paths, "arithmetic")["tables"]
    return [str(note) for table in tables for note in table["notes"]]


def _boxes(window: int) -> str:
    scale = f"* {PIXELS} / {window}"
    return " UNION ALL ".join(
        f"SELECT device, stream, '{kind}' AS what, start_ns {scale} AS first, max(end_ns {scale}) AS last, busy(start_ns, end_ns) AS busy_ns "
        f"FROM {kind} GROUP BY device, stream, first" for kind in KINDS)


def _box(lane: int, kind: str, first: int, last: int, busy: int, ns: float) -> str:
    width = last - first + 1
    shade = min(1.0, max(0.35, (busy or 0) / (width * ns)))
    return f'<rect x="{LEFT + first}" y="{TOP + ROW * (lane + 1) + 4:.0f}" width="{width}" height="{ROW - 8}" fill="{KINDS[kind][1]}" fill-opacity="{shade:.2f}"/>'


def _step(start: int, dur: int, name: object, window: int, height: int) -> list[str]:
    x, width = LEFT + start * PIXELS / window, dur * PIXELS / window
    line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 30}" stroke="#767676" stroke-dasharray="3 3"/>'
    label = str(name)
    return [line, _text(x + 4, TOP + ROW * 0.7, label)] if width > 7 * len(label) else [line]


def _time_axis(window: int, height: int) -> list[str]:
    unit, scale = next((unit, scale) for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)) if window >= scale)
    step = 10 ** math.floor(math.log10(window / scale / 8))
    step *= next(factor for factor in (1, 2, 5, 10) if window / scale / (step * factor) <= 8)
    parts = []
    for i in range(int(window / scale / step) + 1):
        x = LEFT + i * step * scale / window * PIXELS
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{height - 30}" y2="{height - 25}" stroke="#222"/>', _text(x, height - 10, f"{i * step:g} {unit}", "middle")]
    return [f'<line x1="{LEFT}" x2="{LEFT + PIXELS}" y1="{height - 30}" y2="{height - 30}" stroke="#222"/>', *parts]


def _legend() -> list[str]:
    parts = []
    for i, (name, colour) in enumerate(KINDS.values()):
        parts += [f'<rect x="{LEFT + 100 * i}" y="12" width="12" height="12" fill="{colour}"/>', _text(LEFT + 100 * i + 18, 22, name)]
    return parts


Point = tuple[float, float, str]
Roof = tuple[float, float, str]  # FLOP/s, bytes/s, what it is of


def _measured(trace: Trace) -> tuple[list[Point], list[Roof]]:
    rows = _rows(trace, "SELECT flop_per_byte, flop_per_s, name, peak_flop_per_s, peak_bytes_per_s, precision FROM roofline WHERE level = 'DRAM'")
    roofs = {precision: (peak, traffic, str(precision)) for _, _, _, peak, traffic, precision in rows}
    return [(x, y, str(name)) for x, y, name, *_ in rows], list(roofs.values())


def _modelled(trace: Trace) -> tuple[list[Point], list[Roof]]:
    """The peaks are what the shares of them imply, for each number format."""
    rows = _rows(trace, "SELECT flop_per_byte, flop_per_s, name, flop_per_s / compute_pct * 100, gb_per_s / bandwidth_pct * 100e9, math FROM arithmetic "
                        "WHERE compute_pct > 0 AND bandwidth_pct > 0 AND bandwidth_pct < 100")
    roofs = {math_unit: (peak, traffic, str(math_unit)) for _, _, _, peak, traffic, math_unit in rows}
    points = _rows(trace, "SELECT flop_per_byte, flop_per_s, name FROM arithmetic")
    return ([(x, y, str(name)) for x, y, name in points], list(roofs.values())) if roofs else ([], [])


def _rows(trace: Trace, sql: str) -> list[tuple[Any, ...]]:
    return [row for row in zip(*trace.sql(sql).to_dict().values()) if None not in row and row[0] > 0 and row[1] > 0]


def _roofline(points: Sequence[Point], roofs: Sequence[Roof], what: str) -> str:
    roofs = _merged(roofs)
    knees = [flops / traffic for flops, traffic, _ in roofs]
    xs, ys = [x for x, _, _ in points] + knees, [y for _, y, _ in points] + [flops for flops, _, _ in roofs]
    x_low, x_high = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)) + 0.3)
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 0.1)
    height, bottom = 460, 410

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (math.log10(x) - x_low) / (x_high - x_low) * PIXELS, bottom - (math.log10(y) - y_low) / (y_high - y_low) * (bottom - TOP)

    parts = [f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{PIXELS}" height="{bottom - TOP}"/></clipPath>']
    for power in range(x_low, x_high + 1):
        x, _ = place(10.0 ** power, 10.0 ** y_low)
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#ddd"/>', _text(x, bottom + 18, f"{10.0 ** power:g}", "middle")]
    for power in range(y_low, y_high + 1):
        _, y = place(10.0 ** x_low, 10.0 ** power)
        parts += [f'<line x1="{LEFT}" x2="{LEFT + PIXELS}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>', _text(LEFT - 8, y + 4, _rate(10.0 ** power), "end")]
    for flops, traffic, name in roofs:
        corners = [place(10.0 ** x_low, traffic * 10.0 ** x_low), place(flops / traffic, flops), place(10.0 ** x_high, flops)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        parts += [f'<polyline points="{line}" fill="none" stroke="#222" stroke-width="1.5" clip-path="url(#plot)"/>', _text(LEFT + PIXELS - 4, corners[1][1] - 5, f"{name}: {_rate(flops)}", "end")]
    for x, y, name in points:
        at = place(x, y)
        title = f"<title>{escape(name)}: {_rate(y)} at {x:.3g} FLOP/byte</title>"
        parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4" fill="#3574d4" fill-opacity="0.75" stroke="#1b3f78">{title}</circle>')
    parts.append(_text(LEFT + PIXELS / 2, height - 10, f"arithmetic intensity in FLOP/byte; {what}", "middle"))
    return _svg("Roofline", height, parts)


def _merged(roofs: Sequence[Roof]) -> list[Roof]:
    """One roof for formats with the same peaks, as far as three digits show."""
    merged: dict[tuple[str, str], Roof] = {}
    for flops, traffic, name in roofs:
        key = f"{flops:.3g}", f"{traffic:.3g}"
        merged[key] = (flops, traffic, f"{merged[key][2]}, {name}" if key in merged else name)
    return list(merged.values())


def _rate(flops: float) -> str:
    unit, scale = next((each for each in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)) if flops >= each[1]), ("", 1.0))
    return f"{flops / scale:.3g} {unit}FLOP/s"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    width = LEFT + PIXELS + RIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" {FONT}><title>{title}</title>'
            f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n')
