#!/usr/bin/env python3
"""Figures that only a GPU can confirm say whether one has: in README.md, GLOSSARY.md and docs, except decisions, which are history.

A paragraph, list entry or table that names a GPU model (H100, H200, ...) together with "measured", "recorded" or "tried", holds the comment
`<!-- gpu: FILE -->`: the report or recording in this repository that shows it, or `none`. With `none` it says in words
"not measured on a GPU yet", and those words are nowhere without it. FILE is a path from the top of the checkout. So a report that replaces a
figure is one change of one line, and none can be forgotten: --list prints those that wait for one.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = re.compile(r"\b(?:[GR]?[ABH][12]00|GH\d\d\d|RTX \w+)\b")
CLAIM = re.compile(r"\b(?:measured|recorded|tried)\b", re.IGNORECASE)
MARK = re.compile(r"<!-- gpu: (\S+) -->")
WAITING = re.compile(r"not\s+measured\s+on\s+a\s+GPU\s+yet", re.IGNORECASE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def blocks(markdown):
    """(line number, text) of each paragraph and list entry; code is skipped."""
    blank = FENCED.sub(lambda match: "\n" * match[0].count("\n"), markdown)
    lines, start = [], 1
    for number, line in enumerate([*blank.split("\n"), ""], 1):
        if lines and (not line.strip() or re.match(r"[*-] |\d+\. ", line)):
            yield start, "\n".join(lines)
            lines = []
        if line.strip():
            start = start if lines else number
            lines.append(line)


def problem_of(text, root=ROOT):
    """Why a block is wrong, or None."""
    plain = re.sub(r"`[^`]*`", "", MARK.sub("", text))  # code speaks of the rule, and does not claim
    marks = MARK.findall(re.sub(r"`[^`]*`", "", text))
    if MODEL.search(plain) and CLAIM.search(plain) and not marks:
        return "says what a GPU showed, and not which file shows it: add <!-- gpu: FILE --> or <!-- gpu: none -->"
    if bool(WAITING.search(plain)) != ("none" in marks):
        return "`not measured on a GPU yet` and <!-- gpu: none --> belong together"
    gone = [mark for mark in marks if mark != "none" and not (root / mark).exists()]
    return f"{gone[0]} does not exist" if gone else None


def main():
    pages = [ROOT / "README.md", ROOT / "GLOSSARY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if "decisions" not in page.parts]
    found = [(f"{page.relative_to(ROOT)}:{number}", text) for page in pages for number, text in blocks(page.read_text())]
    waiting = [where for where, text in found if "none" in MARK.findall(re.sub(r"`[^`]*`", "", text))]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(waiting))
        return 0
    wrong = [f"{where}: {problem}" for where, text in found if (problem := problem_of(text))]
    print("\n".join(wrong) or f"{len(waiting)} passages wait for a report from a GPU")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
