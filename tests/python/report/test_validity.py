"""Real recordings are believed: no check is violated, except where the recording is known to lack work."""

import pytest
from conftest import FIXTURES, unpacked

# Parts of recordings, from which events were removed by the people who published them.
IDLE_WITH_WORK = {"trace_filter__sampled_rank-0.json.zst", "trace_filter__sampled_rank-1.json.zst"}
FOLDERS = ("kineto", "public", "nsys", "jax")
RECORDINGS = sorted(
    path for folder in FOLDERS for path in (FIXTURES / folder).rglob("*") if path.name.endswith((".json.gz", ".json.zst", ".sqlite.gz", ".sqlite.zst", ".json", ".pb.zst"))
) + unpacked(FIXTURES / "public/dlrm.tar.xz") + sorted((FIXTURES.parents[1] / "examples").glob("*.json.gz"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_real_recordings_are_believed(program, recording):
    rows = program.report(recording, "validity")["validity"].rows
    violated = {row["check"] for row in rows if row["result"] == "violated"}
    assert violated == ({"idle for a reason"} if recording.name in IDLE_WITH_WORK else set()), rows


def test_there_are_many_real_recordings():
    assert len(RECORDINGS) >= 25
