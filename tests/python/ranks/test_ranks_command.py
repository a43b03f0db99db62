"""Options of `ranks`: conditions that end with status 1, and names that are replaced."""

import gzip
import json
import os
import shutil

import pytest
from job_engines import EXAMPLE, cache  # noqa: F401

import gpu_profile

SECRETS = (b"secret-host", b"secret-user", b"secret-project", b"rank00")


@pytest.fixture
def private(tmp_path):
    """A job whose hosts, folders and files have private names: one is cut, one damaged, one foreign, one missing."""
    folder = tmp_path / "secret-user" / "secret-project"
    shutil.copytree(EXAMPLE, folder)
    for path in folder.iterdir():
        text = gzip.decompress(path.read_bytes())
        assert b"node00" in text
        path.write_bytes(gzip.compress(text.replace(b"node00", b"secret-host")))
    (folder / "rank00001.json.gz").write_bytes((folder / "rank00001.json.gz").read_bytes()[:20_000])
    (folder / "rank00002.json.gz").write_bytes(b"")
    (folder / "rank00003.json.gz").unlink()
    (folder / "secret-project-notes.txt").write_text("nothing")
    return folder


@pytest.mark.parametrize(("conditions", "status", "said"), [
    (["cost>2%"], 1, ["--fail-on cost>2%: rank 5 (slow GPU) costs 10.89 % of the step"]),
    (["cost > 11 %", "uneven>11%", "lost>0", "lost>0%"], 0, []),
    (["uneven>10%", "cost>20%"], 1, ["--fail-on uneven>10%: 10.84 % of the step is lost to uneven ranks and transfers"]),
])
def test_fail_on(program, cache, conditions, status, said):
    plain = program.run("ranks", EXAMPLE, "--cache", cache, "--format", "json")
    done = program.run("ranks", EXAMPLE, "--cache", cache, "--format", "json", *(f"--fail-on={condition}" for condition in conditions))
    assert (done.status, done.errors) == (status, [f"gpu-profile: {line}" for line in said])
    assert json.loads(done.stdout) == json.loads(plain.stdout)  # complete, whatever fires


def test_fail_on_lost_ranks(program, cache, private):
    def run(condition):
        done = program.run("ranks", private, "--cache", cache, "--fail-on", condition)
        return done.status, done.errors

    assert run("lost>2") == (1, ["gpu-profile: --fail-on lost>2: 3 of 8 ranks have no whole recording"])
    assert run("lost>37.6%") == (0, [])
    assert run("lost>37.4%") == (1, ["gpu-profile: --fail-on lost>37.4%: 3 of 8 ranks have no whole recording"])


def test_what_cannot_be_judged_does_not_fire(program, cache):
    done = program.run("ranks", EXAMPLE / "rank00000.json.gz", "--cache", cache, "--fail-on", "cost>0%")
    assert done.status == 0
    (line,) = done.errors
    assert line.startswith("gpu-profile: --fail-on cost>0%: not evaluated: ")


@pytest.mark.parametrize(("condition", "why"), [
    ("cost", "expected METRIC>PERCENT"), ("speed>2%", "unknown metric 'speed'"), ("cost>2", "must be a percentage"), ("lost>-1", "must not be negative"),
])
def test_wrong_conditions_are_told_before_reading(program, tmp_path, condition, why):
    done = program.run("ranks", EXAMPLE, "--cache", tmp_path / "none", "--fail-on", condition)
    assert done.status == 2
    assert why in done.errors[0]
    assert not (tmp_path / "none").exists()


def test_anonymous_answers_name_nobody(program, cache, private, tmp_path):
    named = program.run("ranks", private, "--cache", cache, "--format", "json")
    for secret in SECRETS:
        assert secret in named.stdout  # so that the next lines can fail
    for form in ("json", "text", "md", "csv"):
        tables = ["ranks"] if form == "csv" else ["stragglers", "ranks", "hosts", "losses", "job_steps", "rank_collectives"]
        done = program.run("ranks", private, *tables, "--cache", cache, "--anonymise", "--save", tmp_path / "job.gpuprof", "--format", form)
        assert done.status == 0, done.errors
        first = program.run("ranks", private, *(tables if form == "csv" else []), "--cache", cache, "--anonymise", "--format", form)
        everything = done.stdout + done.stderr + first.stdout + first.stderr
        for secret in (*SECRETS, os.fsencode(private)):
            assert secret not in everything, form
    plain = program.run("export", "json", tmp_path / "job.gpuprof")
    content = (tmp_path / "job.gpuprof").read_bytes() + plain.stdout
    for table in ("rank", "losses", "meta"):
        content += program.run("query", tmp_path / "job.gpuprof", f"SELECT * FROM {table}", "--format", "json").stdout
    for secret in (*SECRETS, os.fsencode(private)):
        assert secret not in content


def test_anonymous_names_are_stable_and_tell_files_apart(program, cache, private):
    found, again = (gpu_profile.ranks(private, cache=cache, anonymise=True, progress=progress) for progress in (None, lambda *_: None))
    rows = found.sql("SELECT rank, file, host, status, reason FROM rank ORDER BY rank").to_dict()
    assert rows == again.sql("SELECT rank, file, host, status, reason FROM rank ORDER BY rank").to_dict()
    assert [rows["status"][rank] for rank in (1, 2, 3)] == ["cut", "unreadable", "missing"]
    assert len({name for name in rows["file"] if name}) == 7
    assert {rows["host"][rank] for rank in (0, 1)} == {"host-1"}
    assert {rows["host"][rank] for rank in (4, 5, 6, 7)} == {"host-2"}
    assert "file-" in rows["reason"][2]
    assert found.report().to_dict()["unit"] == gpu_profile.ranks(private, cache=cache).report().to_dict()["unit"]
