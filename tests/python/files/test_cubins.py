"""Cubins compiled here for three architectures: source lines equal CUPTI's for every instruction, resources equal cuobjdump's."""

import json
import shutil

import pytest

from conftest import FIXTURES
from cuda_tools import find_tools
from wheels import Unavailable

ARCHITECTURES = ("sm_80", "sm_90a", "sm_100a")
INSTRUCTION = 16  # bytes
RESERVED = 1024  # bytes of shared memory of the driver, from compute capability 9.0 on
FORMS = {"lines": ["-lineinfo"], "unlinked": ["-lineinfo", "-rdc=true"], "debug": ["-G"], "plain": []}
COMPLETE = ["lines", "linked", "debug", "plain"]


@pytest.fixture(scope="session")
def cuda():
    try:
        return find_tools()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def compiled(cuda, tmp_path_factory):
    """Compiles tests/fixtures/cubin/kernels.cu once for each architecture and form."""
    folder = tmp_path_factory.mktemp("cubins")
    shutil.copy(FIXTURES / "cubin/kernels.cu", folder)

    def get(architecture, form):
        cubin = folder / f"{architecture}.{form}.cubin"
        if form == "linked" and not cubin.exists():
            cuda.run("nvlink", f"--arch={architecture}", get(architecture, "unlinked"), "-o", cubin)
        elif not cubin.exists():
            cuda.run("nvcc", f"-arch={architecture}", *FORMS[form], "-cubin", "-o", cubin, "kernels.cu", cwd=folder)
        return cubin

    return get


def rows(program, *arguments):
    outcome = program.run("kernel-info", *arguments, "--format", "json", "--limit", "0")
    assert outcome.status == 0, outcome.errors
    table = json.loads(outcome.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def line_at(ranges, offset):
    for row in ranges:
        if row["offset"] <= offset < row["offset"] + row["bytes"]:
            return row["source"], row["line"]
    return None


def compare_lines(program, cuda, cubin):
    """The number of instructions compared, all equal."""
    ranges = rows(program, cubin, "--lines")
    image, compared = cubin.read_bytes(), 0
    for kernel in rows(program, cubin):
        own = [row for row in ranges if row["symbol"] == kernel["symbol"]]
        for offset in range(0, kernel["code_bytes"], INSTRUCTION):
            assert line_at(own, offset) == cuda.cupti.line(image, kernel["symbol"], offset), f"{kernel['symbol']}+{offset:#x}"
            compared += 1
    return compared


@pytest.mark.parametrize("form", COMPLETE)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lines_equal_cupti(program, cuda, compiled, architecture, form):
    cubin = compiled(architecture, form)
    assert compare_lines(program, cuda, cubin) > 600
    assert {row["line_table"] for row in rows(program, cubin)} == {form != "plain"}


@pytest.mark.parametrize("form", COMPLETE)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_resources_equal_cuobjdump(program, cuda, compiled, architecture, form):
    cubin = compiled(architecture, form)
    printed = cuda.resources(cubin)
    kernels = rows(program, cubin)
    assert len(kernels) == (6 if architecture == "sm_80" else 7)
    for kernel in kernels:
        usage = printed[kernel["symbol"]]
        reserved = RESERVED if usage["SHARED"] and architecture != "sm_80" else 0
        assert kernel["architecture"] == architecture
        assert kernel["registers"] == usage["REG"], kernel
        assert kernel["shared_bytes"] == usage["SHARED"] - reserved, kernel
        assert kernel["stack_bytes"] == usage["STACK"], kernel


def test_unlinked_files_are_refused(program, compiled):
    """Their kernels lack what the functions need that they call."""
    outcome = program.run("kernel-info", compiled("sm_90a", "unlinked"))
    assert outcome.status == 3 and "is not linked" in outcome.errors[0]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lines_of_a_python_file(program, cuda, tmp_path, architecture):
    """PTX as Triton hands it to ptxas: its .loc lines point to a .py file."""
    cubin = tmp_path / "add.cubin"
    cuda.run("ptxas", "-lineinfo", f"-arch={architecture}", FIXTURES / "cubin/add.ptx", "-o", cubin)
    assert compare_lines(program, cuda, cubin) >= 30
    files = {row["user_source"] for row in rows(program, cubin, "--lines")}
    assert files == {"/opt/example/add.py"}


def test_programs_are_extracted_first(program, cuda, compiled, tmp_path):
    source = tmp_path / "app.cu"
    source.write_text((FIXTURES / "cubin/kernels.cu").read_text() + "int main() { return 0; }\n")
    cuda.run("nvcc", "-arch=sm_90a", "-lineinfo", "-c", "-o", "app.o", source, cwd=tmp_path)
    cuda.run("nvcc", "-arch=sm_90a", "-lineinfo", "-fatbin", "-o", "app.fatbin", source, cwd=tmp_path)
    for name in ("app.o", "app.fatbin"):
        outcome = program.run("kernel-info", tmp_path / name)
        assert outcome.status == 3
        advice = outcome.errors[0].split("`")[1].split()
        assert advice[:3] == ["cuobjdump", "-xelf", "all"]
        folder = tmp_path / f"{name}.cubins"
        folder.mkdir()
        cuda.run(*advice, cwd=folder)
        [cubin] = folder.glob("*.cubin")
        assert compare_lines(program, cuda, cubin) > 900


def test_the_fixtures_are_what_the_compiler_writes(program, cuda, compiled):
    """The kept cubins stand for compiled ones: same kernels with the same resources."""
    for architecture in ARCHITECTURES:
        kept = rows(program, FIXTURES / f"cubin/kernels.{architecture}.cubin.gz")
        fresh = rows(program, compiled(architecture, "lines"))
        ignored = {"file": None}
        assert [{**row, **ignored} for row in kept] == [{**row, **ignored} for row in fresh]
