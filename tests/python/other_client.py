"""`record` next to another CUPTI client in the program (tests/fakes/kineto): what each of them received."""

import json

from played import record_played

PLAY = "time=paced live"
PLAYS = 3  # before the other starts, while it records, after it has stopped


def record(program, script, folder, *options, rules="", play=PLAY, arguments=(), client=""):
    """Record the fake program with the other client in it; `client` says how that one behaves
    (tests/fakes/kineto). Return what it received, the capture and the outcome."""
    answer, capture = folder / "answer.json", folder / "run.gpuprof"
    outcome = record_played(program, script, capture, "--sample", "0", *options, rules=rules, play=play,
                            arguments=["--kineto", answer, *arguments], environment={"FAKE_KINETO": client})
    assert outcome.status == 0, outcome.errors
    return json.loads(answer.read_text()), capture, outcome


def count(program, capture):
    return sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows)


def total(program, capture):
    return sum(row["total_ns"] for row in program.report(capture, "kernels")["kernels"].rows)


def data_losses(program, capture):
    return {row["kind"] for row in program.report(capture, "losses")["losses"].rows if row["severity"] == "data"}
