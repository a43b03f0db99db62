#!/usr/bin/env python3
"""Draws docs/images/first-screen.svg, a terminal that shows the loop: what limits a run, what a change would give, whether it helped.

    draw_terminal.py PROGRAM            run the commands and write the picture
    draw_terminal.py PROGRAM --check    1 if the picture is not what the commands print now

The text is what PROGRAM prints, cut to the height of the screen. Each command appears, then its output; readers who asked their system for
less motion see the first screen at rest.
"""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/images/first-screen.svg"
COLUMNS, ROWS, WIDTH, HEIGHT, SECONDS = 100, 19, 7.83, 17, 7  # a character, a line and a screen
BASE, NEW = "tests/fixtures/kineto/input_bound.json.gz", "tests/fixtures/kineto/input_fixed.json.zst"
# What a reader types, and what runs.
SCREENS = [
    ("gpu-profile report base.json.gz", ["report", BASE]),
    ("gpu-profile whatif base.json.gz --change input --change pinned-copies", ["whatif", BASE, "--change", "input", "--change", "pinned-copies"]),
    ("gpu-profile compare base.json.gz new.json.gz", ["compare", BASE, NEW, "attribution"]),
]
STYLE = """text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8dee9;white-space:pre}
.c{fill:#fff;font-weight:bold}.b{fill:#7aa2f7}.a{fill:#9ece6a}.s{visibility:hidden;animation:s %ds step-end infinite}
.o{animation:o %ds step-end infinite}@keyframes s{0%%{visibility:visible}%.2f%%{visibility:hidden}}
@keyframes o{0%%{opacity:0}%.2f%%{opacity:1}}
@media(prefers-reduced-motion){.s,.o{animation:none}.s:first-of-type{visibility:visible}}"""


def printed(program, words):
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8"}
    done = subprocess.run([program, *words], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True)
    lines = [line.replace(BASE, "base.json.gz").replace(NEW, "new.json.gz")[:COLUMNS].rstrip() for line in done.stdout.rstrip().split("\n")]
    return lines[:ROWS - 2] + (["…"] if len(lines) > ROWS - 2 else [])


def line(text, number):
    marked = re.sub("[▁-▏]+", lambda bar: f'<tspan class="b">{bar[0]}</tspan>', html.escape(text, quote=False))
    kind = ' class="a"' if text.startswith("→") else ""
    return f'<text x="12" y="{44 + number * HEIGHT}"{kind}>{marked}</text>'


def drawn(program):
    total, width, height = SECONDS * len(SCREENS), round(COLUMNS * WIDTH) + 24, ROWS * HEIGHT + 52
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="gpu-profile in a terminal">',
             "<style>" + STYLE % (total, total, 100 / len(SCREENS), 12 / len(SCREENS)) + "</style>",
             f'<rect width="{width}" height="{height}" rx="8" fill="#1a1b26"/>',
             *(f'<circle cx="{16 + 18 * i}" cy="16" r="5" fill="{fill}"/>' for i, fill in enumerate(("#f7768e", "#e0af68", "#9ece6a")))]
    for number, (typed, words) in enumerate(SCREENS):
        delay = f' style="animation-delay:{number * SECONDS}s"'
        parts += [f'<g class="s"{delay}><text x="12" y="44" class="c">$ {html.escape(typed)}</text><g class="o"{delay}>',
                  *(line(text, row) for row, text in enumerate(printed(program, words), 1) if text), "</g></g>"]
    return "\n".join([*parts, "</svg>", ""])


def main():
    program, check = Path(sys.argv[1]).resolve(), "--check" in sys.argv
    picture = drawn(program)
    if check:
        return int(PICTURE.read_text(encoding="utf-8") != picture)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {len(picture.encode())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
