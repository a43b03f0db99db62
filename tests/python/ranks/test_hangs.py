"""The table `hangs` against jobs whose missing rank is planted (tests/ranks/hangs.py), and on a real job."""

import json
import subprocess
import sys

import pytest
from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT))

from patience import HANGS_S  # noqa: E402
from tests.ranks import hangs  # noqa: E402

REAL = FIXTURES / "flight"


@pytest.fixture
def answer(program, tmp_path):
    """Return a function that runs `ranks` on a folder of dumps: the document, and the rows of hangs."""

    def run(place, *words):
        done = subprocess.run([program.path, "ranks", place, *words, "--format", "json", "--limit", "0", "--cache", tmp_path / "cache"],
                              capture_output=True, timeout=HANGS_S, check=True)
        document = json.loads(done.stdout)
        (table,) = [table for table in document["tables"] if table["name"] == "hangs"]
        names = [column["name"] for column in table["columns"]]
        return document, [dict(zip(names, row, strict=True)) for row in table["rows"]]

    return run


def ranks_of(text):
    return [] if text is None else [rank for part in text.split(",") for first, _, last in [part.partition("-")]
                                    for rank in range(int(first), int(last or first) + 1)]


def identity(row):
    return [row["group"], row["collective"], row["seq"], row["cause"]]


def check_members(rows, job):
    """Each rank is in one list of a row, and a rank without a dump is not blamed."""
    for row in rows:
        members = [ranks_of(row[column]) for column in ("missing", "waiting", "not_begun", "completed", "no_dump", "unknown")]
        listed = sorted(rank for ranks in members for rank in ranks)
        assert len(listed) == len(set(listed)), row
        assert not set(ranks_of(row["missing"])) & set(job.without), row


@pytest.mark.parametrize("name", hangs.JOBS)
def test_the_planted_rank_is_found_and_nobody_else_is_blamed(answer, tmp_path, name):
    job = hangs.JOBS[name]()
    hangs.write(job, tmp_path / "job")
    document, rows = answer(tmp_path / "job")
    check_members(rows, job)
    truth = job.truth
    if truth["root"] is None:
        assert rows == []
        assert document["verdict"]["name"] == "no open collective"
        return
    first = rows[0]
    assert identity(first) == truth["root"]
    assert first["root"]
    assert ranks_of(first["missing"]) == truth["missing"]
    assert ranks_of(first["no_dump"]) == truth.get("no_dump", [])
    assert ranks_of(first["unknown"]) == truth.get("unknown", [])
    assert first["mismatch"] == truth.get("mismatch")
    if "last" in truth:
        assert first["last"] == truth["last"]
        assert first["last_at"] == f"train (/opt/job/train.py:{truth['line']})"
    assert [identity(row) for row in rows[1:] if row["cause"] != "behind another"] == truth.get("others", [])
    assert sum(row["cause"] == "behind another" for row in rows) == truth.get("behind", 0)


def test_the_first_line_names_rank_collective_and_line(answer, tmp_path):
    hangs.write(hangs.missing(), tmp_path / "job")
    document, _ = answer(tmp_path / "job")
    assert document["verdict"]["because"] == (
        "Rank 3 never called all_reduce 57 of group default_pg (0-7); ranks 0-2,4-7 wait for it since 2026-09-21 14:13:20 UTC; "
        "its last collective was _allgather_base 57 of group tp2 (2,3), called in train (train.py:21)")


def test_json_and_pickle_give_the_same_rows(answer, tmp_path):
    for form in (False, True):
        hangs.write(hangs.chain(), tmp_path / f"json{form}", as_json=form)
    (_, pickled), (_, parsed) = (answer(tmp_path / f"json{form}") for form in (False, True))
    stacks = ("called_at", "last_at")  # JSON has none
    assert [{key: value for key, value in row.items() if key not in stacks} for row in pickled] == \
           [{key: value for key, value in row.items() if key not in stacks} for row in parsed]


def test_a_saved_job_gives_the_same_answer(answer, program, tmp_path):
    hangs.write(hangs.waits(), tmp_path / "job")
    _, rows = answer(tmp_path / "job", "hangs", "--save", tmp_path / "job.gpuprof")
    assert program.report(tmp_path / "job.gpuprof", "hangs")["hangs"].rows == rows


def test_a_real_job_on_gloo(answer):
    """Rank 3 sleeps before the all-reduce of the fifth step. Gloo records no ranks of groups."""
    document, rows = answer(REAL)
    assert [identity(row) for row in rows] == [["default_pg", "all_reduce", 9, "missing rank"]]
    assert rows[0]["missing"] == "3"
    assert rows[0]["waiting"] == "0-2"
    assert document["verdict"]["because"].endswith("its last collective was all_reduce 5 of group tensor_parallel, called in train (train.py:21)")


def test_one_dump_says_what_its_rank_has_open(program):
    verdict = program.report(REAL / "nccl_trace_rank_1").document["verdict"]
    assert verdict["because"].startswith("Rank 1 waits in all_reduce 9 of group default_pg")
    verdict = program.report(REAL / "nccl_trace_rank_3").document["verdict"]
    assert verdict["name"] == "no open collective"
