"""tools/check_includes.py asks for the headers of the standard names that a source uses, and only for those."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import check_includes  # noqa: E402

HEADERS = {
    "a/names.h": '#include <string>\n#include "a/sizes.h"\n',
    "a/sizes.h": '#include <cstdint>\n#include "a/names.h"\n',  # a cycle must end
    "a/none.h": "/*\n#include <vector>\n*/\n",
}


def problems(text):
    return list(check_includes.Sources({**HEADERS, "x.cc": text}).problems("x.cc"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("std::vector<int> a;", [(1, "vector", "vector")]),
        ("\nint a = std::max(1, 2);\nint b = std::min(1, 2);", [(2, "max", "algorithm")]),  # each header once
        ("#include <vector>\nstd::vector<int> a;", []),
        ('#include "a/names.h"\nstd::string a;\nstd::uint64_t b;', []),
        ('#include "a/none.h"\nstd::vector<int> a;', [(2, "vector", "vector")]),
        ("#include <map>\nstd::pair<int, int> a;", []),  # a map consists of pairs
        ("#include <vector>\nstd::pair<int, int> a;", [(2, "pair", "utility")]),
        ("#include <string.h>\nauto a = std::strlen(b);", []),
        ("#include <cstdlib>\nauto a = std::abs(b);", []),
        ("#include <chrono>\nstd::this_thread::sleep_for(std::chrono::seconds(1));", [(2, "this_thread", "thread")]),
        ("uint32_t a; my::uint64_t b;", [(1, "uint32_t", "cstdint")]),
        ("std::something_else a;", []),
    ],
)
def test_includes(text, expected):
    assert problems(text) == expected


def test_headers_that_a_supported_compiler_cannot_read():
    assert check_includes.Sources({"x.cc": "#include <map>\n#include <ranges>\n"}).refused("x.cc") == ["ranges"]


@pytest.mark.parametrize(
    "text",
    [
        "// std::vector",
        "/* a\n std::vector */",
        'f("\\"std::vector");',
        'f(R"(" std::vector)");',
        'f(R"x()" std::vector)x");',
        "f('\"'); // std::vector \"",
        "f(1'000); // ' std::vector",
    ],
)
def test_comments_and_strings_do_not_count(text):
    assert problems(text) == []
    assert problems(text + "\nstd::vector<int> a;") == [(text.count("\n") + 2, "vector", "vector")]


def test_included_text_in_a_string_does_not_count():
    assert problems('f(R"(\n#include <vector>\n)");\nstd::vector<int> a;') == [(4, "vector", "vector")]


def test_the_command(monkeypatch, capsys):
    monkeypatch.setattr(check_includes, "project_texts", lambda: {"a.h": "\nstd::optional<int> a;", "b.cc": ""})
    assert check_includes.main() == 1
    assert capsys.readouterr().out == "a.h:2: uses std::optional; include <optional>\n"
    monkeypatch.setattr(check_includes, "project_texts", lambda: HEADERS)
    assert check_includes.main() == 0
    assert capsys.readouterr().out == "3 sources include what they use of the standard library\n"
