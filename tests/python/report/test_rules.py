"""Every rule has a case in which it fires, one in which it stays silent, and one in which it abstains (tests/cases/rules)."""

import pytest

from conftest import TESTS

CASES = TESTS / "cases" / "rules"


def test_every_rule_has_a_folder(program):
    assert {folder.name for folder in CASES.iterdir()} == {row["name"] for row in program.declared("rules")}


@pytest.mark.parametrize("rule", sorted(folder.name for folder in CASES.iterdir()))
@pytest.mark.parametrize("kind", ["fires", "silent", "abstains"])
def test_every_rule_has_its_cases(rule, kind):
    cases = [case for case in CASES.glob(f"{rule}/{kind}-*") if (case / "expect-rule").exists()]
    assert cases, f"tests/cases/rules/{rule} has no case that begins with {kind}-"
    for case in cases:
        assert (case / "expect-rule").read_text().startswith(kind)
