"""Every rule has a case in which it fires, one in which it stays silent, and one in which it abstains (tests/cases/rules)."""

import re

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
RULES = ROOT / "analyze" / "rules"
CASES = ROOT / "tests" / "cases" / "rules"


def listed():
    """The ids of the rules in the list, in its order."""
    names = re.findall(r"^\s+RULE\((\w+)\)", (RULES / "rule_list.h").read_text(), re.MULTILINE)
    found = {name: identity for file in RULES.glob("*.cc") for name, identity in re.findall(r'const Rule k(\w+)\{\s*"([\w-]+)"', file.read_text())}
    assert names and set(names) == set(found)
    return [found[name] for name in names]


@pytest.mark.parametrize("rule", listed())
@pytest.mark.parametrize("kind", ["fires", "silent", "abstains"])
def test_every_rule_has_its_cases(rule, kind):
    cases = [case for case in CASES.glob(f"{rule}/{kind}-*") if (case / "expect-rule").exists()]
    assert cases, f"tests/cases/rules/{rule} has no case that begins with {kind}-"
    for case in cases:
        assert (case / "expect-rule").read_text().startswith(kind)


def test_every_case_is_of_a_rule():
    assert {folder.name for folder in CASES.iterdir()} == set(listed())
