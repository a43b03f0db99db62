"""Counters of one recording find the kernels of another recording of the same program."""

import pytest

from conftest import FIXTURES, recorded


def joined(program, name, *analyses):
    return program.report(recorded(f"kineto/{name}"), FIXTURES / f"ncu/{name}.raw.csv.gz", *analyses)


@pytest.mark.parametrize("name,kernels", [("triton", 1), ("memory_bound", 6), ("transformer", 10)])
def test_each_measured_kernel_is_found(program, name, kernels):
    """PyTorch and Nsight Compute demangle the same symbols differently."""
    report = joined(program, name, "limits", "kernels", "devices")
    limits = report["limits"].rows
    assert len(limits) == kernels
    assert not any("match no kernel" in note for table in report.document["tables"] for note in table.get("notes", []))
    names = {f"k-{i + 1}": row["name"] for i, row in enumerate(report["kernels"].rows)}
    for row in limits:  # the same function, whatever surrounds its name
        assert row["name"].partition("<")[0].rpartition(":")[2].rpartition(" ")[2] in names[row["kernel"]]
    assert len(report["devices"].rows) == 1


def test_functors_tell_kernels_of_one_name_apart(program):
    report = joined(program, "memory_bound", "limits", "kernels")
    names = {f"k-{i + 1}": row["name"] for i, row in enumerate(report["kernels"].rows)}
    for row in report["limits"].rows:
        for functor in ("MulFunctor", "CUDAFunctor_add", "tanh_kernel_cuda", "GeluCUDAKernelImpl"):
            assert (functor in row["name"]) == (functor in names[row["kernel"]])


def test_measured_beats_modelled(program):
    """Names alone give medium confidence; counters of the same kernels give high confidence, and the basis is said."""
    alone = program.report(FIXTURES / "kineto/memory_bound.json.gz").document["verdict"]
    both = joined(program, "memory_bound").document["verdict"]
    assert (alone["name"], alone["basis"]) == ("memory-bandwidth-bound", "kernel names")
    assert (both["name"], both["basis"], both["confidence"]) == ("memory-bandwidth-bound", "counters", "high")
    kernels = joined(program, "memory_bound", "kernels")["kernels"].rows
    assert {row["limit"] for row in kernels} == {"DRAM-bound", "compute-bound"}


def test_other_programs_do_not_match(program):
    report = program.report(FIXTURES / "kineto/small_kernels.json.zst", FIXTURES / "ncu/kernels.raw.csv.gz", "limits", "kernels")
    count = len(report["kernels"].rows)
    assert {row["kernel"] for row in report["limits"].rows} == {f"k-{count + i}" for i in range(1, 10)}
    notes = next(table["notes"] for table in report.document["tables"] if table["name"] == "limits")
    assert notes == ["9 of 9 kernels with counters match no kernel of the timeline: their name, grid or block differs."]
    assert {row["limit"] for row in report["kernels"].rows} == {None}
