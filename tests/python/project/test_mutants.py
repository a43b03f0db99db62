"""The list of tests/soak/mutants.py fits the sources: each guard is there once, and the test that must notice its loss exists."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "soak"), str(ROOT / "tools")]

import mutants  # noqa: E402
from check_refs import has_test  # noqa: E402


def problem_of(mutant):
    if sorted(mutant) != ["broken", "file", "guard", "test", "text"]:
        return f"has {sorted(mutant)}"
    file, _, name = mutant["test"].partition("::")
    there = (ROOT / file).is_file() and has_test((ROOT / file).read_text(), name.partition("[")[0])
    return mutants.problem_of(mutant) or (None if there else f"there is no test {mutant['test']}")


def test_the_list_fits_the_sources():
    listed = mutants.mutants()
    assert {mutant["guard"]: problem for mutant in listed if (problem := problem_of(mutant))} == {}
    assert len({mutant["guard"] for mutant in listed}) == len(listed) >= 60


@pytest.mark.parametrize("text, why", [("not " + "there", "0 times"), ("a", "times"), ("LIST = ", "changes nothing")])
def test_a_mutant_that_does_not_fit_is_named(text, why):
    assert why in mutants.problem_of({"file": "tests/soak/mutants.py", "text": text, "broken": text})
    assert "there is no" in mutants.problem_of({"file": "core/none", "text": text, "broken": ""})


def test_a_run_goes_on_where_it_was_ended(tmp_path):
    kept, said = tmp_path / "mutants.jsonl", {"first": "killed", "second": "SURVIVED", "third": "killed by the time limit"}
    for of, result in said.items():
        assert mutants.Results(kept, "1a2b").get(of, lambda result=result: (result, 0.26)) == (result, 0.26)
    kept.write_text(kept.read_text() + '{"commit": "1a2b", "of": "cut')

    def judged(commit, again=False):
        results, asked = mutants.Results(kept, commit, again), []
        for of in said:
            results.get(of, lambda of=of: (asked.append(of), 1.0))
        return asked

    assert judged("3c4d") == list(said), "of another commit"
    assert judged("1a2b") == ["second"], "what survived is tried again"
    assert judged("1a2b", again=True) == list(said)
