"""A part of a recording: --from and --to, and the part that the first answer of a recorded program is about."""

import json

import pytest
from played import record_played
from recordings_of_cupti import FIXTURES, ROOT, script_of

TRACE = ROOT / "examples" / "input_bound.json.gz"


def kernels(program, *options):
    done = program.run("report", TRACE, "kernels", "--format", "json", "--limit", "0", *options)
    assert done.status == 0, done.errors
    table = json.loads(done.stdout)["tables"][0]
    names = [c["name"] for c in table["columns"]]
    return sum(dict(zip(names, row, strict=True))["count"] for row in table["rows"])


def test_parts_add_up_to_the_whole(program):
    whole = kernels(program)
    assert kernels(program, "--to", "0.1") + kernels(program, "--from", "0.1") == whole
    assert kernels(program, "--from", "0.05", "--to", "0.1") < whole


def test_starts_are_shown_from_the_beginning_of_the_whole(program):
    done = program.run("report", TRACE, "gaps", "--format", "json", "--limit", "0", "--from", "0.1")
    table = json.loads(done.stdout)["tables"][0]
    start = [c["name"] for c in table["columns"]].index("start_ns")
    assert min(row[start] for row in table["rows"]) >= 100_000_000


def test_times_may_have_units(program):
    assert kernels(program, "--from", "50ms", "--to", "100000us") == kernels(program, "--from", "0.05", "--to", "0.1")


@pytest.mark.parametrize(("options", "quoted"), [
    (("--from", "9"), "--from 9.00 s"),
    (("--from", "0.1", "--to", "0.05"), "--from 100 ms --to 50.0 ms"),
])
def test_a_part_outside_of_the_recording_quotes_what_was_given(program, options, quoted):
    done = program.run("report", TRACE, "kernels", *options)
    assert done.status == 2
    assert quoted in done.errors[0]


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    """A program that plays its work after a pause, as one that imports and warms up does."""
    folder = tmp_path_factory.mktemp("recorded")
    capture, script = folder / "run.gpuprof", script_of(FIXTURES / "memory_bound.jsonl.xz", folder, lanes=2)
    outcome = record_played(program, script, capture, "--sample", "0")
    assert outcome.status == 0, outcome.errors
    return capture, outcome.stderr.decode()


def test_the_first_answer_leaves_the_start_up_out(program, recorded):
    capture, said = recorded
    assert "memory-bandwidth-bound" in said  # the workload's true limit; its start-up is nine tenths of the time
    assert "--whole" in said
    assert "memory-bandwidth-bound" in program.run("report", capture).stdout.decode()
    assert "host-bound" in program.run("report", capture, "--whole").stdout.decode()


def test_what_to_run_next_shows_the_same_part(program, recorded):
    capture, said = recorded
    command = next(line for line in said.splitlines() if line.startswith("next ")).split("gpu-profile ")[1].split()
    assert "--from" in command
    done = program.run(*command, "--format", "json")
    assert done.status == 0, done.errors
    assert "host-bound" not in done.stdout.decode()
    assert capture.name in command[1]


def test_analyses_by_name_are_about_the_same_part(program, recorded):
    capture, _ = recorded
    windows = [json.loads(program.run("report", capture, *words, "--format", "json").stdout)["source"]["window_ns"]
               for words in ((), ("findings",), ("kernels", "idle"), ("kernels", "--whole"), ("losses",))]
    assert windows[0] == windows[1] == windows[2] < windows[3] == windows[4]


def test_rows_of_a_part_count_from_the_origin_that_is_named(program):
    whole, part = (json.loads(program.run("report", TRACE, *some, "gaps", "--limit", "0", "--format", "json").stdout)
                   for some in ((), ("--from", "0.1", "--to", "0.2")))
    assert part["source"]["time_origin_ns"] == whole["source"]["time_origin_ns"]
    start = [c["name"] for c in part["tables"][0]["columns"]].index("start_ns")
    assert min(row[start] for row in part["tables"][0]["rows"]) >= 0.1e9
