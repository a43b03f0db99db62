"""The comparison with other tools is what its script writes from the saved results, and how answers are judged."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests/simulate"))

import json  # noqa: E402

page = pytest.importorskip("bench.peers.page")


def test_page_and_readme_are_written_from_the_results():
    results = json.loads(page.RESULTS.read_text())
    assert page.PAGE.read_text() == page.markdown(results), "run python3 -m bench.peers.page"
    assert page.headline(results) in page.README.read_text()


def test_every_tool_of_the_results_is_pinned():
    pinned = (ROOT / "bench/peers/requirements.txt").read_text()
    for tool, version in json.loads(page.RESULTS.read_text())["versions"].items():
        assert tool == "gpu-profile" or (f"[{tool}]" in pinned and version in pinned)


@pytest.mark.parametrize(("truth", "answer", "verdicts"), (
    ({"limit": ["input-bound"]}, {"limit": ["input-bound"]}, {"limit": "right"}),
    ({"limit": ["input-bound"]}, {"limit": ["input-bound", "launch-bound"]}, {"limit": "side"}),
    ({"limit": ["input-bound"]}, {"limit": ["compute-bound", "underfilled"]}, {"limit": "wrong"}),
    ({"limit": ["input-bound"]}, {"fails": "no trace"}, {"limit": "none"}),
    ({"limit": []}, {"limit": ["input-bound"]}, {}),
    ({"idle_pct": [60.0, 70.0]}, {"idle_pct": 70.9}, {"idle_pct": "right"}),
    ({"idle_pct": [60.0, 70.0]}, {"idle_pct": 58.0}, {"idle_pct": "wrong"}),
    ({"step_ms": [10.0, 10.0]}, {"step_ms": 10.6}, {"step_ms": "wrong"}),
    ({"step_ms": [10.0, 10.0]}, {}, {"step_ms": "none"}),
))
def test_answers_are_judged(truth, answer, verdicts):
    run = pytest.importorskip("bench.peers.run")
    assert run.judged(truth, answer) == verdicts
