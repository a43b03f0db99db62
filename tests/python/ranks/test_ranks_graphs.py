"""Collectives inside CUDA graphs: no record describes them, and the host runs ahead. They are matched by step, kind and place.

The jobs are servers with tensor parallelism, whose ranks need different time for their parts; what each collective waits and transfers
is computed here, from the times that the generator chose.
"""

import json
import sys
from pathlib import Path

import pytest
from rank_jobs import ranks  # noqa: F401

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "simulate"))

from serving_jobs import shards, stages  # noqa: E402


@pytest.mark.parametrize("world", [2, 4])
def test_collectives_of_graphs_are_matched(ranks, tmp_path, world):  # noqa: F811
    folder = tmp_path / "job"
    folder.mkdir()
    waits = shards(folder, world, 20, world)
    rows = {row["collective"]: row for row in ranks(folder, "rank_collectives")["rank_collectives"]}
    assert {kind: (row["instances"], row["complete_pct"]) for kind, row in rows.items()} == {"all_reduce": (40, 100), "all_gather": (20, 100)}
    for kind, row in rows.items():
        all_waits = [wait for rank in waits[kind] for wait in rank]
        assert row["wait_mean_ns"] == pytest.approx(sum(all_waits) / len(all_waits), abs=2)


def test_dummy_steps_of_an_idle_rank_blame_nobody(ranks, tmp_path):  # noqa: F811
    """Rank 1 has no requests in some steps; it launches the same graph, so that the collectives go on, without an annotation."""
    folder = tmp_path / "job"
    folder.mkdir()
    shards(folder, 2, 20, 5, dummy={(step, 1) for step in range(6, 12)})
    rows = ranks(folder, "stragglers")["stragglers"]
    assert rows == [], "arrivals are drawn alike for both ranks"


def test_replicas_are_not_one_group(program, ranks, tmp_path):  # noqa: F811
    """Two replicas of two GPUs each in one world: nothing names the groups, and the collectives of the replicas do not end together."""
    folder = tmp_path / "job"
    folder.mkdir()
    for replica in range(2):
        shards(folder, 2, 20, 31 + replica, first=2 * replica, all_ranks=4)
    assert ranks(folder, "rank_collectives")["rank_collectives"] == []
    assert ranks(folder, "stragglers")["stragglers"] == []


@pytest.mark.parametrize("late", [1, 3])
def test_recordings_that_begin_at_different_steps(ranks, tmp_path, late):  # noqa: F811
    """Idle replicas do not advance their profilers. Their steps are counted from the first that was recorded; what ends together is one step."""
    folder = tmp_path / "job"
    folder.mkdir()
    shards(folder, 2, 20, 40 + late, opens={1: late}, least=190, most=210)
    found = ranks(folder, "rank_collectives", "stragglers")
    rows = {row["collective"]: row["instances"] for row in found["rank_collectives"]}
    assert rows == {"all_reduce": 2 * (20 - late), "all_gather": 20 - late}
    assert found["stragglers"] == []


@pytest.mark.parametrize("described", [True, False])
def test_the_bubble_of_a_stage_is_no_straggler(ranks, tmp_path, described):  # noqa: F811
    folder = tmp_path / "job"
    folder.mkdir()
    stages(folder, 20, 3, described)
    found = ranks(folder, "ranks", "stragglers", "pipeline")
    assert [row["place"] for row in found["ranks"]] == ["dp0 pp0 tp0 ep0", "dp0 pp1 tp0 ep0"]
    assert found["stragglers"] == []
    if described:
        assert [(row["stage"], row["ranks"]) for row in found["pipeline"]] == [(0, "0"), (1, "1")]


def test_places_number_files_without_ranks(ranks, tmp_path):  # noqa: F811
    """SGLang's stages number their shards again."""
    folder = tmp_path / "job"
    folder.mkdir()
    stages(folder, 6, 4, True)
    for stage in range(2):
        file = folder / f"dp0_pp{stage}_tp0_dcp0_ep0_rank{stage}.1.pt.trace.json"
        document = json.loads(file.read_text())
        del document["distributedInfo"]
        (folder / f"1775078550-TP-0-PP-{stage}.trace.json").write_text(json.dumps(document))
        file.unlink()
    rows = ranks(folder, "ranks")["ranks"]
    assert [(row["rank"], row["place"]) for row in rows] == [(0, "pp0 tp0"), (1, "pp1 tp0")]
