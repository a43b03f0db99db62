"""The checks of tools/ find what they are for: each is shown a fault that it must name."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import check_docs  # noqa: E402
import check_elf  # noqa: E402
import check_gpu_figures  # noqa: E402
import check_language  # noqa: E402
import check_layers  # noqa: E402
import check_refs  # noqa: E402
import check_size  # noqa: E402

sys.path.insert(0, str(ROOT / "tests"))

import run_unit_tests  # noqa: E402

LAYERS = check_layers.read_layers("core/base: -\ncore/model: core/base # comment\ncli: core/*\n")


@pytest.mark.parametrize(
    "path, include, complaint",
    [
        ("core/model/x.cc", '"core/base/result.h"', None),
        ("core/model/x.cc", '"core/model/trace.h"', None),
        ("core/model/x.cc", "<vector>", None),
        ("cli/x.cc", '"core/model/trace.h"', None),
        ("core/base/x.cc", '"core/model/trace.h"', "core/base may not include core/model"),
        ("core/model/x.cc", '"trace.h"', "is not a file of this project"),
        ("core/model/x.cc", '"core/base/absent.h"', "is not a file of this project"),
        ("core/model/x.cc", "<iostream>", "core/model prints nothing"),
        ("cli/x.cc", "<iostream>", None),
        ("bench/x.cc", '"core/base/result.h"', "no rule in LAYERS"),
    ],
)
def test_layers(path, include, complaint):
    found = list(check_layers.problems_of_file(path, f"// text\n#include {include}\n", LAYERS))
    assert len(found) == (complaint is not None)
    assert not complaint or complaint in found[0]


@pytest.mark.parametrize("line, module", [
    ("import json, os.path", None), ("from . import native", None), ("from torch import cuda", None), ("import numpy.linalg", "numpy"),
    ("def f():\n    from requests import get", "requests"),
])
def test_imports_of_the_package(line, module):
    found = list(check_layers.foreign_imports("x.py", line))
    assert len(found) == (module is not None)
    assert module is None or f"imports {module}," in found[0]


def test_a_cycle_of_layers():
    assert check_layers.cycle(LAYERS) == []
    assert "a -> " in check_layers.cycle(check_layers.read_layers("a: b\nb: c\nc: a\n"))[0]


def test_the_page_has_every_layer():
    page = "```\ncore/base   results   knows nothing\ncli   commands   knows core\nweb   viewer   knows JSON\nold   gone   knows core\n```"
    found = list(check_layers.not_described(LAYERS, page))
    assert ["core/model" in found[0], "old" in found[1], len(found)] == [True, True, 2]


def test_fuzzed_sources_exist():
    """The sources whose coverage tests/fuzz/run.py counts, as beginnings of paths."""
    parsers = runpy.run_path(str(ROOT / "tests/fuzz/run.py"))["PARSERS"]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True)
    sources = [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]
    assert [part for parts in parsers.values() for part in parts if not any(one.startswith(part) for one in sources)] == []


def test_a_fuzz_target_without_inputs_is_not_run():
    """libFuzzer without inputs would fuzz for ever; here there is no such program either."""
    assert runpy.run_path(str(ROOT / "tests/fuzz/run.py"))["lines_covered"]("no_such_target") == (0, 0)


@pytest.mark.parametrize(
    "line, complaint",
    [
        ("see /" + "home/me/x", "home/me/x"),
        ("TO" + "DO later", "issue"),
        ("TO" + "DO #12 later", None),
        ("see ../" + "elsewhere/x", "elsewhere/x"),
        ("see core/base/" + "absent.h", "core/base/absent.h"),
        ("see core/base/result.h", None),
        ("a / b, and/or, 3/4", None),
        ("`tests/python/project/test_tools.py::test_refs`", None),
        ("`tests/python/project/test_tools.py::test_absent`", "has no test test_absent"),
        ("`tests/unit/model/interval_test.cc::Interval.BusyPlusIdleIsTheWindow`", None),
        ("`tests/unit/model/interval_test.cc::Interval.Absent`", "has no test Interval.Absent"),
        ("`web/test/payload.test.ts::each encoding`", None),
        ("`web/test/payload.test.ts::absent`", "has no test absent"),
    ],
)
def test_refs(line, complaint):
    found = list(check_refs.line_problems("docs/x.md", 7, line))
    assert len(found) == (complaint is not None)
    assert not complaint or (complaint in found[0] and "docs/x.md:7" in found[0])


def test_refs_of_markdown():
    page = "# A Title\n[a](#a-title) [b](#absent) [c](absent.md) [d](https://example.org) [e](LICENSE)\n"
    found = list(check_refs.link_problems("README.md", page))
    assert ["#absent" in found[0], "absent.md" in found[1], len(found)] == [True, True, 2]


def test_long_files_and_functions():
    found = list(check_size.long_files({"a.cc": 700, "b.cc": 701}, {}))
    assert len(found) == 1 and found[0].startswith("b.cc: 701 lines")
    assert list(check_size.long_files({"b.cc": 701}, {"b.cc": "one table"})) == []
    assert "b.cc" in list(check_size.long_files({"b.cc": 3}, {"b.cc": "one table"}))[0]
    found = list(check_size.long_functions([("a.cc", 1, "good", 80), ("a.cc", 90, "bad", 81)]))
    assert len(found) == 1 and found[0].startswith("a.cc:90: bad has 81 lines")


def test_functions_of_typescript_are_measured(tmp_path):
    source = tmp_path / "x.tsx"
    source.write_text("export function f() {\n  if (a) {\n    b();\n  }\n}\nclass C {\n  g() {\n    c();\n  }\n}\n")
    check_size.ROOT, root = tmp_path, check_size.ROOT
    try:
        assert list(check_size.typescript_functions([source])) == [("x.tsx", 1, "f", 5), ("x.tsx", 7, "g", 3)]
    finally:
        check_size.ROOT = root


def test_functions_are_measured(tmp_path):
    source = tmp_path / "x.h"
    source.write_text("inline int f() {\n    return 1;\n}\n")
    if not check_size.shutil.which("ctags"):
        pytest.skip("universal-ctags is not installed")
    check_size.ROOT, root = tmp_path, check_size.ROOT
    try:
        assert list(check_size.functions([source])) == [("x.h", 1, "f", 3)]
    finally:
        check_size.ROOT = root


def test_commands_of_a_page():
    page = "text\n```sh\n$ one \\\n  more\noutput\n$ two   # exit 3\n```\n```sh\nnot run\n```\n```\n$ not sh\n```\n"
    assert list(check_docs.commands(page)) == [(3, "one \\\n  more"), (6, "two   # exit 3")]


@pytest.mark.parametrize(
    "command, problem",
    [("true", None), ("exit 3  # exit 3", None), ("exit 3", "exit 3 instead of 0"), ("true # exit 3", "exit 0 instead of 3")],
)
def test_exit_of_a_command(tmp_path, command, problem):
    happened = check_docs.run(command, tmp_path, None)
    assert (happened is None) if problem is None else (problem in happened)


def test_output_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- output of: echo right -->\n```\nwrong\n```\nrest\n")
    assert check_docs.shown_problem(page, tmp_path, None, gold=False) is not None
    assert check_docs.shown_problem(page, tmp_path, None, gold=True) is None
    assert page.read_text() == "<!-- output of: echo right -->\n```\nright\n```\nrest\n"
    assert check_docs.shown_problem(page, tmp_path, None, gold=False) is None


def test_output_below_the_command_that_a_reader_types(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- output of: seq 3 | head -n 1 -->\n```\n$ seq 3\n9\n```\n")
    assert check_docs.shown_problem(page, tmp_path, None, gold=True) is None
    assert page.read_text() == "<!-- output of: seq 3 | head -n 1 -->\n```\n$ seq 3\n1\n```\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Measured on one H200: x1.04.", "<!-- gpu: none -->"),
        ("Measured on one H200: x1.04. <!-- gpu: docs/README.md -->", None),
        ("Measured on one H200: x1.04. <!-- gpu: docs/nowhere.md -->", "docs/nowhere.md does not exist"),
        ("x1.04 (H200; a prototype measured it), not measured\non a GPU yet. <!-- gpu: none -->", None),
        ("x1.04, not measured on a GPU yet.", "<!-- gpu: none -->"),
        ("x1.04. <!-- gpu: none -->", "not measured on a GPU yet"),
        ("The H200 has 132 multiprocessors.", None),
        ("Say `not measured on a GPU yet` and `<!-- gpu: none -->`.", None),
    ],
)
def test_figures_of_a_gpu(text, complaint):
    found = check_gpu_figures.problem_of(text)
    assert (found is None) == (complaint is None) and (complaint or "") in (found or "")


def test_figures_of_a_gpu_are_looked_for_by_paragraph():
    found = list(check_gpu_figures.blocks("one\ntwo\n\n```\nH200 measured\n```\n* three\n* four\n  more\n"))
    assert found == [(1, "one\ntwo"), (7, "* three"), (8, "* four\n  more")]


POOR = ["A Meanwhile", "x of 3 without it", "whose are left out", "keeps from 5 on,\nthe rest", "as nobody reads", "is, as far as it has"]  # language: quoted
PLAIN = ["at the same time", "from now on,", "multiprocessors", "what is left", "a trace processor\nof it"]


def test_poor_phrases(monkeypatch, tmp_path):
    """grep, which finds the files that may have one, reads the expressions as Python does."""
    files = {f"{number}.md": f"first — line\n{text}\nlast" for number, text in enumerate([*POOR, *PLAIN])}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(check_language, "ROOT", tmp_path)
    found = {name for name, text in files.items() if list(check_language.problems(name, text))}
    assert found == set(list(files)[: len(POOR)])
    assert check_language.suspects(list(files)) >= found
    monkeypatch.setattr(check_language, "PHRASES", (("(", "an expression that grep refuses"),))
    assert check_language.suspects(list(files)) == set(files)


HARDENED = """
  Type:                              DYN (Position-Independent Executable file)
  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW  0x10
  GNU_RELRO      0x24d000 0x000000000024e000 0x000000000024e000 0x018000 0x018000 R   0x1
 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN]
 0x000000006ffffffb (FLAGS_1)            Flags: NOW PIE
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __stack_chk_fail@GLIBC_2.4 (4)
     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __memcpy_chk@GLIBC_2.3.4 (3)
    20: 00000000000f3c40   170 FUNC    GLOBAL DEFAULT   13 gpuprof_version
"""


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("", "", None),
        ("[$ORIGIN]", "[$ORIGIN:/opt/lib]", None),
        ("[$ORIGIN]", "[:::::::]", "the entry ''"),
        ("[$ORIGIN]", "[$ORIGIN:]", "the entry ''"),
        ("[$ORIGIN]", "[lib]", "the entry 'lib'"),
        ("[$ORIGIN]", "[$ORIGINAL/lib]", "the entry '$ORIGINAL/lib'"),
        ("(RUNPATH)            Library runpath", "(RPATH)              Library rpath", None),
        (" RW  0x10", " RWE 0x10", "stack is executable"),
        ("DYN (Pos", "EXEC (Pos", "not position-independent"),
        ("NOW PIE", "PIE", "full RELRO"),
        ("GNU_RELRO", "GNU_NOTE", "full RELRO"),
        ("__stack_chk_fail", "abort", "stack protector"),
        ("__memcpy_chk", "memcpy", "_FORTIFY_SOURCE"),
        ("0000f3c40   170 FUNC", "0000f3c40   170 FUNC    GLOBAL DEFAULT   13 foreign\n  21: 0000000000000c40   170 FUNC", "does not list, foreign"),
        ("GLOBAL DEFAULT   13 gpuprof_version", "LOCAL  DEFAULT   13 gpuprof_version", "does not export, but"),
    ],
)
def test_elf(monkeypatch, old, new, complaint):
    assert old in HARDENED
    monkeypatch.setattr(check_elf, "listed_exports", lambda source: {"gpuprof_version"})
    monkeypatch.setattr(check_elf, "readelf", lambda path: HARDENED.replace(old, new))
    found = list(check_elf.problems(Path("libgpuprof.so")))
    assert len(found) == (complaint is not None), found
    assert not complaint or complaint in found[0]


PORTABLE = HARDENED.replace(" 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN]\n", "") + """
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
"""


@pytest.mark.parametrize(
    "name, old, new, complaint",
    [
        ("gpu-profile", "", "", None),
        ("gpu-profile", "GLIBC_2.3.4", "GLIBC_2.28", None),
        ("gpu-profile", "GLIBC_2.3.4", "GLIBC_2.29", "needs glibc 2.29 (at most 2.28): __memcpy_chk"),
        ("libgpuprof_inject.so", "GLIBC_2.3.4", "GLIBC_2.18", "needs glibc 2.18 (at most 2.17): __memcpy_chk"),
        ("gpu-profile", "libc.so.6", "libstdc++.so.6", "needs libstdc++.so.6"),
        ("gpu-profile", "(NEEDED)             Shared library: [libc", "(RUNPATH)            Library runpath: [$ORIGIN/libc", "has a run path"),
    ],
)
def test_portable_elf(monkeypatch, name, old, new, complaint):
    assert old in PORTABLE
    monkeypatch.setattr(check_elf, "listed_exports", lambda source: {"gpuprof_version"})
    monkeypatch.setattr(check_elf, "readelf", lambda path: PORTABLE.replace(old, new))
    found = list(check_elf.problems(Path(name), portable=True))
    assert len(found) == (complaint is not None), found
    assert not complaint or complaint in found[0]


AARCH64 = PORTABLE.replace("__stack_chk_fail@GLIBC_2.4", "__stack_chk_guard@GLIBC_2.17").replace("GLIBC_2.3.4", "GLIBC_2.17") + """
  Machine:                           AArch64
  LOAD           0x2496b8 0x00000000002596b8 0x00000000002596b8 0x6f42e4 0x6f42e4 R E 0x10000
"""


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("", "", None),
        ("R E 0x10000", "R E 0x1000", "not aligned to 64 KiB"),
        ("__stack_chk_guard", "__stack_chk_fail", "stack protector"),  # the guard would be a constant
    ],
)
def test_aarch64_elf(monkeypatch, old, new, complaint):
    assert old in AARCH64
    monkeypatch.setattr(check_elf, "readelf", lambda path: AARCH64.replace(old, new))
    found = list(check_elf.problems(Path("gpu-profile"), portable=True))
    assert len(found) == (complaint is not None), found
    assert not complaint or complaint in found[0]


@pytest.mark.parametrize("target, complaint", [("60000", False), ("60008", True)])
def test_own_stack_guard(monkeypatch, tmp_path, target, complaint):
    """In a stripped file, a section names our guard, and a relocation with its address shows that code reads it."""
    path = tmp_path / "gpu-profile"
    path.touch()
    more = f" [25] .gpuprof.guard PROGBITS 0000000000060000\n5fdb8  0403 R_AARCH64_RELATIVE                         {target}\n"
    monkeypatch.setattr(check_elf, "readelf", lambda path, *facts: more if facts else AARCH64.replace("__stack_chk_guard", "abort"))
    assert ["stack protector" in problem for problem in check_elf.problems(path)] == [True] * complaint


def test_nothing_is_loaded_from_the_current_directory(program, tmp_path):
    """The loader would fail on these files, because they are not libraries."""
    for name in ("libzstd.so.1", "libsqlite3.so.0", "libstdc++.so.6", "libc.so.6"):
        (tmp_path / name).write_bytes(b"planted")
    done = subprocess.run([program.path, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.measures
@pytest.mark.parametrize(
    "command, ended",
    [
        ("sleep 1000", "no progress for 3 s"),
        ("for i in 1 2 3 4 5 6 7 8; do sleep 0.5; echo; done; exit 3", 3),
        ("i=0; until [ $i = 1000000 ]; do i=$((i + 1)); done; exit 4", 4),
    ],
)
def test_unit_tests_may_be_slow_and_not_stuck(command, ended, tmp_path):
    with open(tmp_path / "log", "w") as log:
        assert run_unit_tests.run(["sh", "-c", f"exec 2>&1; {command}"], None, log, idle_seconds=3) == ended
