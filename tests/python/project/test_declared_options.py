"""The options that libgpuprof.so declares against what stands in Python's signatures and on the command line."""

import ctypes
import inspect

import pytest
from gpu_profile import GpuMonitor, bench
from gpu_profile.benchmarking import Options
from gpu_profile.declared import filled, options_of

NOT_DECLARED = {"bench": {"stream", "name", "memory", "max_memory_mb", "prepare"}, "monitor": {"sync_fn"}}  # Python's own business


def parameters(callee):
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    found = inspect.signature(callee).parameters.values()
    return {one.name: one.default for one in found if one.kind not in kinds and one.name != "self"}


@pytest.mark.parametrize("structure", ["bench", "monitor"])
def test_the_structure_has_the_librarys_layout(structure):
    """That each field of the header is declared, a unit test says."""
    made = filled(structure, {})
    assert made.size == ctypes.sizeof(made)
    assert [getattr(type(made), option.field).offset for option in options_of(structure)] == [option.offset for option in options_of(structure)]


@pytest.mark.parametrize(("structure", "callee"), [("bench", bench), ("monitor", GpuMonitor)])
def test_python_has_the_declared_parameters(structure, callee):
    declared = {option.parameter for option in options_of(structure) if option.parameter}
    assert set(parameters(callee)) == declared | NOT_DECLARED[structure]


def test_defaults_of_bench_are_the_librarys():
    declared = {option.parameter: option.default for option in options_of("bench") if option.parameter}
    given = parameters(bench)
    assert {name: given[name] for name in declared} == declared
    assert Options._field_defaults == given


def test_defaults_of_the_monitor_are_the_librarys():
    declared = {option.parameter: option.default for option in options_of("monitor") if option.parameter}
    given = parameters(GpuMonitor)
    assert {name: given[name] for name in ("interval_s", "backend", "strict", "warmup_s", "store_samples", "capture")} == {
        name: declared[name] for name in ("interval_s", "backend", "strict", "warmup_s", "store_samples", "capture")}
    assert str(given["device"]) == declared["device"]


@pytest.mark.parametrize(("structure", "commands"), [("bench", ["bench"]), ("monitor", ["profile"])])
def test_commands_have_the_declared_flags(program, structure, commands):
    for command in commands:
        said = program.run(command, "--help").stdout.decode()
        missing = [option.flag for option in options_of(structure) if option.flag and f"  {option.flag} " not in said]
        assert missing == []


def test_the_monitor_passes_every_option_on():
    given = GpuMonitor(device=[1, 2], backend="none", interval_s=0.5, warmup_s=0.25, max_samples=9, strict=True, store_samples=True, capture="x")._options
    assert set(given) <= {option.name for option in options_of("monitor")}
    made = filled("monitor", given)
    assert (made.devices, made.backend, made.capture) == (b"1,2", b"none", b"x")
    assert (made.interval_ns, made.warmup_ns, made.max_samples, made.strict, made.store_samples) == (500_000_000, 250_000_000, 9, 1, 1)


def test_values_become_what_c_takes():
    values = {"timer": "host", "cold": False, "graph": True, "min_time_s": 0.25, "min_warmup_s": 0, "timeout_s": 0, "bytes": None,
              "stream": 1 << 40, "min_samples": 7}
    made = filled("bench", values)
    assert (made.timer, made.hot, made.graph, made.no_blocking) == (b"host", 1, 1, 0)
    assert (made.min_time_ns, made.min_warmup_ns, made.timeout_ns, made.max_warmup_ns) == (250_000_000, -1, 1, 0)
    assert (made.bytes, made.stream, made.min_samples, made.max_samples) == (0, 1 << 40, 7, 0)
