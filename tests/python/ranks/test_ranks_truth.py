"""Tables of `ranks` beside stragglers, against the truth of simulated jobs and published results."""

import re

import pytest
from rank_jobs import job_cache, jobs, ranks  # noqa: F401


@pytest.fixture
def first_answer(program, job_cache):
    """Return a function that returns what `ranks` says first."""
    return lambda place: program.run("ranks", place, "--cache", job_cache).stdout.decode()


def check_clocks(rows, truth, half_ns):
    """Offsets and rates are as planted, but for what all clocks share, and stated errors cover the difference at both ends."""
    of_rank = {rank: host for host, members in zip(truth["clocks"]["hosts"], truth["ranks_of_hosts"], strict=True) for rank in members}
    aligned = [row for row in rows if row["aligned"]]
    planted = {row["host"]: of_rank[int(row["host"].split()[-1])] for row in aligned}
    offset = sum(row["offset_ns"] - planted[row["host"]]["offset_ns"] for row in aligned) / len(aligned)
    rate = sum(row["rate_ppm"] - planted[row["host"]]["rate_ppm"] for row in aligned) / len(aligned)
    covered = 0
    for row in aligned:
        true = planted[row["host"]]
        error = abs(row["offset_ns"] - true["offset_ns"] - offset) + abs(row["rate_ppm"] - true["rate_ppm"] - rate) * 1e-6 * half_ns
        covered += error <= row["error_ns"]
        assert error < 40_000, row
        assert row["jump_ns"] == pytest.approx(true["jump_ns"], abs=20_000) if "jump_ns" in true else row["jump_ns"] is None
    assert covered >= 0.9 * len(aligned)
    return aligned


def test_a_clock_that_was_set_is_aligned_on_both_sides(ranks, jobs):
    place, truth = jobs("jump")
    aligned = check_clocks(ranks(place, "hosts")["hosts"], truth, truth["step_ns"] * 10)
    assert len(aligned) == 16


def test_a_clock_that_wanders_is_refused_and_bends_no_other(ranks, jobs):
    place, truth = jobs("noisy")
    rows = ranks(place, "hosts")["hosts"]
    aligned = check_clocks(rows, truth, truth["step_ns"] * 10)
    assert {row["host"] for row in rows} - {row["host"] for row in aligned} == {"rank 4", "rank 5"}


def test_hosts_without_a_chain_of_groups_are_islands(first_answer, ranks, jobs):
    place, _ = jobs("islands", "--steps", "8")
    rows = ranks(place, "hosts")["hosts"]
    islands = {row["island"]: [] for row in rows}
    for row in rows:
        islands[row["island"]].append(int(row["host"].split()[-1]))
    assert sorted(islands.values()) == [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]]
    assert "4 islands of clocks that cannot be compared" in " ".join(first_answer(place).split())


@pytest.mark.parametrize("lost", [["--lost", "10"], ["--lost", "10", "--no-seq"], ["--lost", "30"]])
def test_recordings_that_lost_events_name_nobody_and_absolve_nobody(first_answer, jobs, lost):
    place, _ = jobs("gpu", "--steps", "10", *lost)
    said = " ".join(first_answer(place).split())
    assert "cannot tell" in said
    assert re.search(r"\d+ % of the collectives are missing on ranks that took part in them", said)


def test_without_sequence_numbers_the_order_in_the_step_decides(ranks, jobs):
    place, truth = jobs("gpu", "--steps", "10", "--no-seq")
    (row,) = [row for row in ranks(place, "stragglers")["stragglers"] if row["named"]]
    assert (row["unit"], row["cost_ns"]) == ("rank 5", pytest.approx(truth["faults"][0]["cost_ns"], rel=0.05))


def test_a_public_job_with_an_uneven_pipeline(first_answer, ranks, jobs):
    """The published analysis finds slowdowns of 1.14 to 1.18 per step, by the last stage (tests/fixtures/ranks)."""
    place, _ = jobs("ST")
    said = " ".join(first_answer(place).split())
    assert "uneven stages" in said
    saved = float(re.search(r"stage 3 computes 1\.\d+ x their mean, and even ones would save .* per step \(([\d.]+) %", said)[1])
    assert 1.14 * 0.96 <= 1 / (1 - saved / 100) <= 1.18 * 1.04
    stages = ranks(place, "pipeline")["pipeline"]
    assert [row["ranks"] for row in stages] == ["0,1", "2,3", "4,5", "6,7"]
    assert stages[3]["over_mean"] > 1.3 and all(row["over_mean"] < 0.9 for row in stages[:3])
    # Four stages, four micro-batches: the bubble of even stages is 3 / 7.
    assert all(row["theory_pct"] == pytest.approx(100 * 3 / 7) for row in stages)


def test_a_slow_rank_is_no_uneven_stage(first_answer, ranks, jobs):
    place, _ = jobs("AR")
    assert "uneven" not in first_answer(place).replace("uneven ranks", "")
    assert all(row["over_mean"] == pytest.approx(1, abs=0.05) for row in ranks(place, "pipeline")["pipeline"])
    (row, *_) = ranks(place, "imbalance")["imbalance"]
    assert (row["ranks"], row["quantity"], row["pattern"], row["largest_rank"]) == ("0-12/4", "compute", "steady", 0)


def test_sequences_of_uneven_length_burden_one_rank_after_another(ranks, jobs):
    """The published analysis of this job finds uneven sequences (tests/fixtures/ranks)."""
    place, _ = jobs("SE", "--steps", "6")
    rows = [row for row in ranks(place, "imbalance")["imbalance"] if row["quantity"] == "compute"]
    assert len(rows) == 2
    for row in rows:
        assert row["pattern"] == "changing" and row["max_over_mean"] > 1.2 and row["largest_pct"] < 25


def test_experts_have_uneven_messages_and_even_compute(ranks, jobs):
    place, _ = jobs("experts", "--steps", "8")
    rows = ranks(place, "imbalance")["imbalance"]
    uneven = {row["quantity"] for row in rows if row["pattern"] != "even" and row["quantity"].startswith(("bytes", "compute"))}
    assert uneven == {"bytes of all_to_all"}


def test_a_slow_group_stands_out_among_links(ranks, jobs):
    place, truth = jobs("link", "--steps", "10")
    rows = ranks(place, "links")["links"]
    slow = [row for row in rows if row["slow"]]
    assert len(slow) == 1 and rows[0] == slow[0]
    assert slow[0]["group"].startswith("DATA_PARALLEL") and slow[0]["ratio"] == pytest.approx(3, rel=0.05)
    assert all(row["ratio"] < 1.1 for row in rows[1:])


@pytest.mark.parametrize("options", [
    ["--format", "nsys"], ["--shared-names"], ["--undescribed"], ["--no-flows"], ["--no-distributed"],
    ["--shifted", "3:2,5:7"], ["--shifted", "3:2,5:7", "--no-seq"],
])
def test_the_price_does_not_depend_on_what_describes_collectives(ranks, jobs, options):
    """Nsight Systems names communicators only, and counts their ranks; ranks that recorded other steps share the rest."""
    place, truth = jobs("gpu", "--steps", "10", *options)
    (row,) = [row for row in ranks(place, "stragglers")["stragglers"] if row["named"]]
    assert row["unit"] == "rank 5"
    assert row["cost_ns"] == pytest.approx(truth["faults"][0]["cost_ns"], rel=0.05)


@pytest.mark.parametrize(("steps", "named"), [(1, []), (2, []), (4, ["rank 5"])])
def test_few_steps_name_nobody(first_answer, ranks, jobs, steps, named):
    """In one step every delay is certain, as nothing contradicts it."""
    place, _ = jobs("gpu", "--steps", str(steps))
    rows = ranks(place, "stragglers")["stragglers"]
    assert rows[0]["unit"] == "rank 5"
    assert [row["unit"] for row in rows if row["named"]] == named
    said = " ".join(first_answer(place).split())
    assert ("too few to tell chance from habit" in said) == (named == [])
