"""An investigation as Markdown and as HTML with the timelines before and after."""

from __future__ import annotations

import contextlib
import html
import os
import shlex
from typing import Any

from .. import program
from ..atomic_file import atomic_replace
from ..sanitize import printable_lines
from .investigation import Investigation, inside, measured
from .text import again_lines, chance_text, evaluation_text, memory_text, name_of, noise_text, prediction_text

__all__ = ["markdown", "write_report"]

_TIMELINES = "timelines.html"
_STYLE = """:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } td, th { border: 1px solid #8888; padding: .3rem .6rem; text-align: left; vertical-align: top }
iframe { width: 100%; height: 80vh; border: 1px solid #8888 }"""


def write_report(found: Investigation) -> list[str]:
    """Write report.md, report.html and, if a trial was kept, the timelines. Return the paths."""
    parts = _parts(found)
    kept = found.current
    timelines = inside(found.folder, _TIMELINES)
    if kept > 0:
        with atomic_replace(timelines, private=True) as part:
            program.answer("export", "html", found.recordings(kept)[0], "--base", found.recordings(0)[0], "-o", part)
    else:  # of a trial that is not kept any more
        with contextlib.suppress(FileNotFoundError):
            os.unlink(timelines)
    paths = []
    for name, text in (("report.md", _markdown(parts, kept)), ("report.html", _html(parts, kept))):
        paths.append(inside(found.folder, name))
        with atomic_replace(paths[-1], private=True) as part, open(part, "w", encoding="utf-8") as file:
            file.write(printable_lines(text))
    return paths + ([timelines] if kept > 0 else [])


def markdown(found: Investigation) -> str:
    """The report as Markdown."""
    return _markdown(_parts(found), found.current)


def _parts(found: Investigation) -> dict[str, Any]:
    """The text of the report: lines, and one table."""
    baseline = found.states[0]
    command = found.document["command"]
    hidden: str | None = found.document["command_text"]
    lead = [
        ("Command", hidden or (shlex.join(command) if command else "recordings that were given")),
        ("Baseline", f"{baseline['verdict'] or 'no verdict'}: {baseline['because']}"),
        ("Noise", noise_text(baseline)),
    ]
    lead += [("Warning", text) for text in baseline["warnings"]]
    lead += [("Baseline", text) for text in again_lines(baseline)]
    total = found.document["total"]
    if total is not None:
        lead.append(("Result", f"from the baseline to trial {found.current}: {total['lead'][0]}"))
    chance = chance_text(found)
    lead += [] if chance is None else [("Chance", chance)]
    rows = [_row(number, trial) for number, trial in enumerate(found.trials, 1)]
    return {"lead": lead, "header": ("Trial", "Change", "Code", "Predicted", "Measured", "Decision"), "rows": rows}


def _row(number: int, trial: dict[str, Any]) -> tuple[str, ...]:
    text = f"{measured(trial)['lead'][0]} (from {name_of(trial['base'])})"
    if trial["held"] is not None:
        text += f"; {trial['held']}"
    memory = memory_text(measured(trial))
    text += "" if memory is None else f"; {memory}"
    if trial["evaluation"] is not None:
        text += f"; evaluation: {evaluation_text(trial['evaluation'])}"
    prediction = "" if trial["prediction"] is None else prediction_text(trial["prediction"])
    return str(number), trial["note"], _code(trial["code"]), prediction, text, f"{trial['decision']}: {trial['because']}"


def _code(code: dict[str, Any] | None) -> str:
    if code is None:
        return ""
    notes = [f"commit {code['commit'][:12]}", f"with {code['patch']}" if code["patch"] else "", code["note"] or ""]
    return ", ".join(note for note in notes if note)


def _markdown(parts: dict[str, Any], kept: int) -> str:
    def escaped(text: str) -> str:
        for special in "\\`*_[]<>|":
            text = text.replace(special, f"\\{special}")
        return " ".join(text.split())

    lines = ["# Investigation", "", *(f"* {name}: {escaped(text)}" for name, text in parts["lead"]), ""]
    if parts["rows"]:
        lines += [f"| {' | '.join(parts['header'])} |", "|" + "---|" * len(parts["header"])]
        lines += [f"| {' | '.join(escaped(cell) for cell in row)} |" for row in parts["rows"]]
    else:
        lines.append("No trial yet.")
    if kept > 0:
        lines += ["", f"[Timelines of the baseline and of trial {kept}]({_TIMELINES})"]
    return "\n".join(lines) + "\n"


def _html(parts: dict[str, Any], kept: int) -> str:
    lead = "".join(f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in parts["lead"])
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in parts["header"])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in parts["rows"])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else "<p>No trial yet.</p>"
    frame = f'<h2>Baseline and trial {kept}</h2><iframe src="{_TIMELINES}" title="Timelines of the baseline and of trial {kept}"></iframe>' if kept > 0 else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Investigation</title><style>{_STYLE}</style></head>"
        f"<body><h1>Investigation</h1><ul>{lead}</ul><h2>Trials</h2>{table}{frame}</body></html>\n"
    )
