"""The results of a part for people: one line per check as it completes, and one page of Markdown."""

SIGNS = {"ok": "ok", "FAILED": "**FAILED**", "skipped": "skipped", "not reached": "not reached"}
LONGEST = 400


def line(row):
    """ok       doctor   1.2 s  what was measured, or why not."""
    told = row["reason"] or "; ".join(row["measured"])
    return f"{row['verdict']:8} {row['name']:28} {row['seconds']:6.1f} s  {_short(told)}"


def page(name, facts, rows, trimmed, left=None):
    counts = {}
    for row in rows:
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    lines = [f"# {name}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()), ""]
    lines += [f"{facts.get('gpu') or 'no GPU'} · driver {facts.get('driver') or 'unknown'} · {facts.get('date')} · "
              f"{facts.get('program') or 'gpu-profile unknown'} · Python {facts.get('python')} · glibc {facts.get('glibc')}", ""]
    for found, version in sorted(facts.get("modules", {}).items()):
        lines.append(f"- {found}: {version}")
    lines += ["", "| check | expected | measured | verdict |", "|---|---|---|---|"]
    for row in rows:
        verdict = SIGNS[row["verdict"]] + (f": {_short(row['reason'])}" if row["reason"] else "")
        lines.append("| " + " | ".join(map(_cell, (row["name"], row["expects"], _short("; ".join(row["measured"])), verdict))) + " |")
    if left:
        lines += ["", f"Not complete: {left}."]
    if trimmed:
        lines += ["", "Not whole in the archive: " + "; ".join(trimmed[:20]) + ("; ..." if len(trimmed) > 20 else "")]
    return "\n".join(lines) + "\n"


def _short(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
