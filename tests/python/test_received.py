"""Some rounds of tests/soak/received.py: commands on folders as somebody else could send them do nothing but answer."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))

import received

ROUNDS = 40


@pytest.fixture(scope="module")
def soak(program, tmp_path_factory):
    return received.Soak(program.path, tmp_path_factory.mktemp("received"), seed=7)


@pytest.mark.parametrize("first", range(0, ROUNDS, 10))
def test_nothing_happens_but_an_answer(soak, first):
    for number in range(first, first + 10):
        found, wrong = soak.round(number)
        assert not wrong, f"round {number} of seed {soak.seed}: {found.text}:\n" + "\n".join(wrong)
