"""The table of first findings in docs/how-it-works/findings.md is that of this program."""

import first_findings
from conftest import FIXTURES

PAGE = FIXTURES.parents[1] / "docs" / "how-it-works" / "findings.md"


def test_the_page_shows_the_first_findings_of_this_program(program):
    """tests/first_findings.py BINARY --write docs/how-it-works/findings.md updates the table."""
    assert first_findings.BEGIN + first_findings.table(str(program.path)) + first_findings.END in PAGE.read_text()


def test_no_first_finding_is_wrong(program):
    for name, (_, right, acceptable) in first_findings.EXPERT.items():
        first = first_findings.first_finding(str(program.path), name)
        assert first_findings.judged(first, right, acceptable) != "**wrong**", (name, first)
