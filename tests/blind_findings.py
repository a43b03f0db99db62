#!/usr/bin/env python3
"""The first finding of public recordings next to what an expert said before he saw it: tests/blind_findings.py BINARY FOLDER [--write PAGE] [--keep]

tests/fixtures/blind_recordings.jsonl.zst names each recording (repository, path, commit, and the hash that git gives the file), what an expert says of it,
and which findings are right or partly right for him: the name of a rule, `none` for no finding, `idle:CAUSE` or `kernel:NAME` for the naive
answer, `says:WORDS` for words of the finding, `trust:WORDS` for words about the recording. FOLDER holds the recordings, by their hash or by the
name in `file`; they are other people's and not copied here. The naive answer is the largest cause of idle time, or the busiest kernel if that
takes longer. --keep writes what is said now down as the answer of the blind run; --write replaces the tables of the page
(docs/how-it-works/blind-test.md).
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from first_findings import show

RECORDINGS = Path(__file__).resolve().parent / "fixtures" / "blind_recordings.jsonl.zst"
BEGIN = "<!-- blind test: tests/blind_findings.py --write -->\n<!-- gpu: tests/fixtures/blind_recordings.jsonl.zst -->\n"
END = "<!-- end of blind test -->"
VERDICTS = ("agrees", "partly", "abstains", "wrong")


def packed(*argv, text=""):
    return subprocess.run(["zstd", *argv], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def rows_of(document, name):
    found = next((each for each in document.get("tables", []) if each["name"] == name), None)
    names = [column["name"] for column in found["columns"]] if found else []
    return [dict(zip(names, row)) for row in found["rows"]] if found else []


def naive_answer(document):
    """The tokens of what someone says who takes the longest line of the two tables, and the text."""
    idle, window = {}, sum(row["window_ns"] for row in rows_of(document, "devices"))
    for row in rows_of(document, "idle"):
        idle[row["cause"]] = idle.get(row["cause"], 0) + row["total_ns"]
    kernel = max(rows_of(document, "kernels"), key=lambda row: row["total_ns"] or 0, default=None)
    cause = max(idle, key=idle.get, default=None)
    if cause and idle[cause] > (kernel["total_ns"] if kernel else 0):
        return f"idle:{cause}", f"idle: {cause}, {100 * idle[cause] / window:.0f} % of the time"
    if not kernel or not kernel["total_ns"]:
        return "", "nothing"
    name = re.sub(r"[|<`].*", "", kernel["name"].removeprefix("void "))[:60]
    return "kernel:" + kernel["name"], f"kernel: `{name}`, {kernel['share_pct']:.0f} % of the kernel time"


def holds(token, said, words, about):
    """Whether an answer is what a token of the expert's asks for."""
    kind, _, rest = token.partition(":")
    if kind == "says":
        return re.search(rest, words) is not None
    if kind == "trust":
        return re.search(rest, about) is not None
    if kind in ("idle", "kernel"):
        return said.startswith(kind + ":") and re.search(rest, said) is not None
    return said == token


def judged(recording, said, words="", about=""):
    for verdict, tokens in (("agrees", recording["right"]), ("partly", recording["partly"])):
        if any(holds(token, said, words, about) for token in tokens):
            return verdict
    return "abstains" if said in ("none", "") else "wrong"


def answers(binary, folder, recording):
    """What is said of a recording, the verdict on that, and both of the naive answer."""
    path = next((path for path in (folder / recording["blob"], folder / recording["file"]) if path.exists()), None)
    if not path:
        return None
    done = subprocess.run([binary, "report", str(path), "--format", "json"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[0].replace(str(path), "FILE") if done.stderr.strip() else f"status {done.returncode}"
        crashed = done.returncode < 0
        return reason, "wrong" if crashed else judged(recording, "none"), "nothing", judged(recording, "")
    document = json.loads(done.stdout)
    first = next(iter(document["findings"]), None)
    words = " ".join([first["title"], *first["evidence"], first["remedy"]]) if first else ""
    about = " ".join(line["text"] for line in document["trust"])
    naive, text = naive_answer(document)
    ours = first["title"] if first else "no finding: " + verdict_text(document)
    return ours, judged(recording, first["id"] if first else "none", words, about), text, judged(recording, naive)


def verdict_text(document):
    verdict = document.get("verdict") or {}
    share = verdict.get("share_pct")
    return verdict.get("name", "no verdict") + (f" {share:.1f} %" if share is not None else "")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def strong(verdict):
    return f"**{verdict}**" if verdict == "wrong" else verdict


def counts(verdicts):
    return " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS)


def place(recording):
    return f"https://github.com/{recording['repository']}/blob/{recording['commit']}/{quote(recording['path'])}"


def tables(recordings, now):
    lines = ["| recording | an expert says | we said | | now | | naive | |", "|---|---|---|---|---|---|---|---|"]
    for each in recordings:
        blind, today = each["blind"], now.get(each["name"])
        changed = today and today[:2] != (blind["ours"], blind["ours_is"])
        lines.append(f"| [{each['what']}]({place(each)}){' †' if 'seen' in each else ''} | {each['expert']} | {cell(blind['ours'])} | {strong(blind['ours_is'])} | "
                     f"{cell(today[0]) if changed else '='} | {strong(today[1]) if changed else '='} | {cell(blind['naive'])} | {strong(blind['naive_is'])} |")
    lines += ["", "| | recordings | agrees | partly | abstains | wrong |", "|---|---|---|---|---|---|"]
    for title, chosen in (("with GPU work", lambda each: each["right"] != ["none"]), ("without", lambda each: each["right"] == ["none"])):
        blind = [each for each in recordings if "seen" not in each and chosen(each)]
        lines += [f"| {title}: we, in the blind run | {len(blind)} | {counts([each['blind']['ours_is'] for each in blind])} |",
                  f"| {title}: the naive answer | {len(blind)} | {counts([each['blind']['naive_is'] for each in blind])} |",
                  f"| {title}: we, now | {len(blind)} | {counts([now.get(each['name'], (None, each['blind']['ours_is']))[1] for each in blind])} |"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--keep", action="store_true", help="write the answers down as those of the blind run")
    given = parser.parse_args()
    recordings = [json.loads(line) for line in packed("-dcq", RECORDINGS).splitlines()]
    now = {each["name"]: found for each in recordings if (found := answers(given.binary, given.folder, each))}
    if given.keep:
        for each in recordings:
            if each["name"] in now:
                each["blind"] = dict(zip(("ours", "ours_is", "naive", "naive_is"), now[each["name"]]))
        RECORDINGS.write_bytes(packed("-19cq", text="".join(json.dumps(each, ensure_ascii=False) + "\n" for each in recordings)))
    for name in (each["name"] for each in recordings if each["name"] not in now):
        print(f"{name}: not in {given.folder}", file=sys.stderr)
    return show(tables(recordings, now), given.write, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
