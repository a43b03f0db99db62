#!/usr/bin/env python3
"""Checks that every GPU figure in README.md, GLOSSARY.md and docs (except decisions) names its source.

A paragraph, list entry or table that names a GPU model (H100, H200, ...) together with "measured", "recorded" or "tried"
must contain the comment `<!-- gpu: FILE -->`: the report or recording in this repository that shows the figure, or `none`.
With `none` the text must say "not measured on a GPU yet", and only then. FILE is a path from the repository root. A report
that confirms a figure therefore changes one line. `--list` prints the passages that wait for a report.

README.md and the page of `record` say that the recorder has not run on a GPU if, and only if, core/schema/meta_keys.h does.
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
    """(line number, text) of every paragraph and list entry; code is skipped."""
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
    plain = re.sub(r"`[^`]*`", "", MARK.sub("", text))  # code mentions the rule without claiming a figure
    marks = MARK.findall(re.sub(r"`[^`]*`", "", text))
    if MODEL.search(plain) and CLAIM.search(plain) and not marks:
        return "GPU figure without a source; add <!-- gpu: FILE --> or <!-- gpu: none -->"
    if bool(WAITING.search(plain)) != ("none" in marks):
        return "`not measured on a GPU yet` and <!-- gpu: none --> must occur together"
    gone = [mark for mark in marks if mark != "none" and not (root / mark).exists()]
    return f"{gone[0]} does not exist" if gone else None


def recorder_problems(root=ROOT):
    """Pages that do not say of the recorder what the program says of it."""
    said = re.search(r'kRecorderUntried = "(.*)"', (root / "core/schema/meta_keys.h").read_text())[1]
    words = re.compile("recorder has not run on a GPU".replace(" ", r"\s+"))
    pages = [root / "README.md", root / "docs/reference/commands/record.md"]
    return [f"{page.relative_to(root)}: the program says '{said}' of the recorder, and the page something else"
            for page in pages if bool(words.search(page.read_text())) != bool(said)]


def main():
    pages = [ROOT / "README.md", ROOT / "GLOSSARY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if "decisions" not in page.parts]
    found = [(f"{page.relative_to(ROOT)}:{number}", text) for page in pages for number, text in blocks(page.read_text())]
    waiting = [where for where, text in found if "none" in MARK.findall(re.sub(r"`[^`]*`", "", text))]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(waiting))
        return 0
    wrong = [f"{where}: {problem}" for where, text in found if (problem := problem_of(text))] + recorder_problems()
    print("\n".join(wrong) or f"GPU figures have sources; {len(waiting)} wait for a report")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
