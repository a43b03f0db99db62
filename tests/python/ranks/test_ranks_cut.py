"""Jobs with cut files: what they say of the other ranks."""

import pytest
from rank_jobs import EXAMPLE, ranks  # noqa: F401


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_a_cut_file_changes_no_price(program, ranks, tmp_path, share):
    """Any step of a cut file may lack events: they are not in order of time. It counts as a rank without a file, in `ranks` too."""
    job = tmp_path / "job"
    job.mkdir()
    for path in EXAMPLE.iterdir():
        content = path.read_bytes()
        (job / path.name).write_bytes(content[: int(share * len(content))] if path.name == "rank00002.json.gz" else content)
    whole, cut = (ranks(place, "stragglers", "ranks") for place in (EXAMPLE, job))
    (before,), (after,) = ([row for row in tables["stragglers"] if row["named"]] for tables in (whole, cut))
    assert (after["unit"], after["cause"]) == (before["unit"], before["cause"])
    assert after["cost_ns"] == pytest.approx(before["cost_ns"], rel=0.05)
    row = cut["ranks"][2]
    assert row["status"] == "cut"
    assert row["reason"]
    assert row["steps"] is None
    assert row["compute_ns"] is None
    said = " ".join(program.run("ranks", job, "--cache", tmp_path / "cache").stdout.decode().split())
    assert "8 of 8 ranks: 1 cut (see the table ranks); cut ones are excluded, and waits for ranks without a whole file are lower bounds" in said


def test_if_most_files_are_cut_they_are_used(ranks, tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    for path in EXAMPLE.iterdir():
        content = path.read_bytes()
        (job / path.name).write_bytes(content if path.name in ("rank00000.json.gz", "rank00001.json.gz") else content[: int(0.9 * len(content))])
    rows = ranks(job, "ranks")["ranks"]
    assert [row["status"] for row in rows] == ["whole"] * 2 + ["cut"] * 6
    assert all(row["steps"] > 0 for row in rows)
