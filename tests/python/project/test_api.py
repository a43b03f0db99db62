"""The public interface: its fields are those that the sources declare, its types hold under mypy, its code keeps to
Python 3.9, importing it loads nothing heavy, and results can be printed, tabulated and plotted."""

import dataclasses
import inspect
import json
import math
import pickle
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest
import replayed

import gpu_profile
from gpu_profile import GpuMonitor, GpuSample, GpuSummary, MultiRunResult, RunStats, native

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "python" / "gpu_profile"
PYTHON_TYPES = {"text": "str", "integer": "int", "number or null": "float | None", "list of texts": "tuple[str, ...]"}


@pytest.fixture
def summary(tmp_path):
    backend = replayed.write(tmp_path / "s.csv", time_s=[0, 1, 2], util_gpu=[10, 20, 60], power_w=[100, 200, 300])
    with GpuMonitor(backend=backend) as monitor:
        pass
    return monitor.summary


def test_summary_fields_are_the_declared_ones(program):
    declared = [(row["name"], PYTHON_TYPES[row["type"]]) for row in program.declared("summary_fields")]
    assert [(field.name, field.type) for field in dataclasses.fields(GpuSummary)] == declared


def test_summary_fields_are_those_of_the_library():
    session = native.Session(GpuMonitor(backend="none")._options)
    try:
        (written,) = session.summaries()
    finally:
        session.close()
    assert list(written) == [field.name for field in dataclasses.fields(GpuSummary)]


def test_sample_fields_are_the_declared_ones(program):
    declared = [row["field"] for row in program.declared("metrics")]
    assert GpuSample._fields == ("time_s", "device", *declared)
    assert native.metric_fields() == declared


def test_arguments_of_the_decorator():
    names = "device interval_s backend strict sync_fn warmup_s store_samples report return_profile repeats warmup_runs"
    defaults = [0, 0.2, "auto", False, None, 0.0, False, True, False, 1, 0]
    parameters = list(inspect.signature(gpu_profile.gpu_profile).parameters.values())
    assert [(one.name, one.default) for one in parameters[:11]] == list(zip(names.split(), defaults))
    monitor = list(inspect.signature(GpuMonitor).parameters)
    assert monitor[:7] == names.split()[:7]


def test_every_public_name_is_there():
    for name in gpu_profile.__all__:
        assert getattr(gpu_profile, name) is not None
    assert set(gpu_profile.__all__) <= set(dir(gpu_profile))
    assert "open" not in gpu_profile.__all__ and gpu_profile.open.__module__ == "gpu_profile.trace"
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        gpu_profile.absent


def test_importing_loads_nothing_heavy():
    code = "import sys; before = set(sys.modules); import gpu_profile; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())  # how the package was installed may add parts of importlib
    assert {name for name in loaded if name.startswith("gpu_profile")} == {"gpu_profile"}
    assert not loaded & {"ctypes", "json", "dataclasses", "threading", "subprocess", "typing", "inspect", "asyncio", "re"}
    code = code.replace("import gpu_profile;", "from gpu_profile import gpu_profile, GpuMonitor;")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"ctypes", "dataclasses", "inspect", "json", "subprocess", "pathlib", "asyncio", "pandas", "matplotlib"} & set(done.stdout.split())


# Results


def test_summary_is_frozen_and_can_be_pickled(summary):
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.device = 1
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert hash(summary) == hash(dataclasses.replace(summary))


def test_summary_as_json(program, summary):
    line = summary.to_json()
    assert "\n" not in line
    values = json.loads(line)
    assert values == summary.to_dict()
    assert list(values) == [row["name"] for row in program.declared("summary_fields")]
    assert (values["util_gpu_mean"], values["temp_mean_c"]) == (30, None)
    assert isinstance(values["notes"], list)
    assert GpuSummary.from_dict(values) == summary


def test_not_a_number_is_null():
    values = json.loads(GpuSummary(util_gpu_mean=math.nan, power_max_w=math.inf).to_json())
    assert (values["util_gpu_mean"], values["power_max_w"]) == (None, None)


def test_summary_of_a_newer_library(summary):
    assert GpuSummary.from_dict({**summary.to_dict(), "not_known_yet": 1}) == summary


def test_summary_as_text(summary):
    text = summary.format()
    assert text == str(summary)
    assert text.startswith("gpu-profile: GPU 0")
    assert "mean 30.0 %" in text


def test_summary_as_html():
    page = GpuSummary(name="<b>", notes=("a < b",))._repr_html_()
    assert page.startswith("<pre>")
    assert "<b>" not in page
    assert "a &lt; b" in page


def test_monitor_as_html(tmp_path):
    assert "has not run yet" in GpuMonitor()._repr_html_()
    assert "mean 15.0 %" in stored(tmp_path)._repr_html_()


def test_statistics_of_runs():
    assert RunStats.of([]) == RunStats(None, None, None, None, ())
    assert RunStats.of([None, 3.0]) == RunStats(3.0, None, 3.0, 3.0, (3.0,))
    assert RunStats.of([2, 4, 4, 4, 5, 5, 7, 9]).std == pytest.approx(math.sqrt(32 / 7))


def runs():
    return MultiRunResult((
        GpuSummary(name="X", duration_s=1.0, util_gpu_mean=50.0, n_samples=5, notes=("n",)),
        GpuSummary(name="X", duration_s=3.0, util_gpu_mean=None, n_samples=7, notes=("n", "m")),
    ))


def test_result_of_runs():
    result = runs()
    assert result.duration == RunStats(2.0, math.sqrt(2), 1.0, 3.0, (1.0, 3.0))
    assert result.util_gpu == RunStats(50.0, None, 50.0, 50.0, (50.0,))
    assert result.stats_for("n_samples").mean == 6
    for field in ("name", "notes", "absent"):
        with pytest.raises(ValueError, match=f"'{field}'"):
            result.stats_for(field)


def test_result_of_runs_as_text():
    assert runs().format() == textwrap.dedent("""\
        gpu-profile: GPU 0 X, over 2 runs
          duration    mean 2 s +- 1.4, 1 to 3
          util_gpu    mean 50 %, 50 to 50 (not measured in 1)
          note: n
          note: m""")


def test_result_of_runs_as_json_and_html():
    values = json.loads(runs().to_json())
    assert values["stats"]["duration"] == {"unit": "s", "mean": 2.0, "std": math.sqrt(2), "min": 1.0, "max": 3.0, "values": [1.0, 3.0]}
    assert list(values["stats"]) == ["duration", "util_gpu"]
    assert [run["duration_s"] for run in values["runs"]] == [1.0, 3.0]
    assert "<td>duration</td><td>2</td><td>1.414</td>" in runs()._repr_html_()


def test_result_of_runs_is_what_the_command_line_prints():
    backend = replayed.all_at_once(replayed.BURSTY)
    command = [gpu_profile.binary(), "--backend", backend, "--repeats", "2", "--json", "--", "true"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    found = gpu_profile.profile_repeats(lambda: None, 2, 0, backend=backend).to_dict()
    assert found.keys() == printed.keys()
    assert found["stats"].keys() == printed["stats"].keys()
    for name, stats in found["stats"].items():
        for key, figure in stats.items():
            assert figure == printed["stats"][name][key] or figure == pytest.approx(printed["stats"][name][key]), name
    assert list(found["runs"][0]) == list(printed["runs"][0])


def test_runs_on_several_devices():
    first, second = GpuSummary(device=0, duration_s=1.0), GpuSummary(device=1, duration_s=2.0)
    result = MultiRunResult.of_runs([[first, second], [first, second]])
    assert result.runs == (first, first)
    (other,) = result.other_devices
    assert other.runs == (second, second)


# Tables and plots


def stored(tmp_path):
    backend = replayed.write(tmp_path / "s.csv", time_s=[0, 0.5], util_gpu=[10, 20], power_w=[100, None])
    with GpuMonitor(backend=backend, store_samples=True) as monitor:
        pass
    return monitor


def test_pandas_is_told_all(tmp_path, monkeypatch):
    fake = types.ModuleType("pandas")
    fake.DataFrame = lambda rows: rows
    monkeypatch.setitem(sys.modules, "pandas", fake)
    rows = stored(tmp_path).to_pandas()
    assert [row["util_gpu"] for row in rows] == [10, 20]
    assert list(rows[0]) == list(GpuSample._fields)
    assert GpuSummary(device=4).to_pandas()[0]["device"] == 4
    assert len(runs().to_pandas()) == 2


def test_with_pandas_itself(tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = stored(tmp_path).to_pandas()
    assert frame["util_gpu"].mean() == 15
    assert frame["power_w"].isna().tolist() == [False, True]


def test_plot_with_matplotlib_itself(tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    figure = stored(tmp_path).plot()
    assert [panel.get_ylabel() for panel in figure.axes] == ["util_gpu", "power_w"]
    assert list(figure.axes[0].lines[0].get_ydata()) == [10, 20]


class FakePanels:
    """Stands for pyplot and its panels: records what is drawn."""

    def __init__(self):
        self.drawn, self.labels = [], []

    def subplots(self, rows, columns, sharex, squeeze):
        self.shape = (rows, columns)
        return self, self

    def __getitem__(self, place):
        return [self] * self.shape[0] if place == (slice(None), 0) else self

    def step(self, times, values, where, label):
        self.drawn.append((label, values))

    def set_ylabel(self, text):
        self.labels.append(text)

    def set_xlabel(self, text):
        self.labels.append(text)


def test_plot_draws_what_has_values(tmp_path, monkeypatch):
    pyplot = FakePanels()
    fake = types.ModuleType("matplotlib")
    fake.pyplot = pyplot
    monkeypatch.setitem(sys.modules, "matplotlib", fake)
    monitor = stored(tmp_path)
    monitor.plot()
    assert pyplot.drawn == [("GPU 0", [10, 20]), ("GPU 0", [100])]
    assert pyplot.labels == ["util_gpu", "power_w", "time_s"]
    with pytest.raises(ValueError, match="'utilisation'"):
        monitor.plot("utilisation")
    with pytest.raises(ValueError, match="temp_c"):
        monitor.plot("temp_c")


@pytest.mark.parametrize("module, call", [("pandas", "to_pandas"), ("matplotlib", "plot")])
def test_what_to_install(tmp_path, monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=re.escape(f"{call}() needs {module}: pip install {module}")):
        getattr(stored(tmp_path), call)()


# The code itself


def test_code_keeps_to_python_3_9(tmp_path):
    command = [sys.executable, "-c", "from vermin import main; main()", "-t=3.9-", "--backport=typing_extensions", "--no-tips",
               "--violations"]
    done = subprocess.run([*command, str(PACKAGE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    newer = tmp_path / "newer.py"
    newer.write_text("import itertools\nmatch list(itertools.pairwise([1])):\n    case []: pass\n")
    assert subprocess.run([*command, str(newer)], capture_output=True, check=False).returncode == 1


def mypy(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_types_of_the_package_and_those_that_users_see(tmp_path):
    """In one run, because the library's own types take most of it."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        from typing import Coroutine, Optional, Any, Iterator
        from typing_extensions import assert_type
        from gpu_profile import GpuMonitor, GpuSample, GpuSummary, MultiRunResult, ProfiledResult, gpu_profile
        import gpu_profile.torch as for_torch

        @gpu_profile
        def bare(x: int) -> str: return str(x)

        @gpu_profile(device=1, report=lambda summary: print(summary))
        def configured(x: int) -> str: return str(x)

        @gpu_profile(return_profile=True)
        def returning(x: int) -> str: return str(x)

        @gpu_profile(return_profile=True, repeats=3)
        def repeated(x: int) -> str: return str(x)

        @gpu_profile(return_profile=True)
        async def asynchronous(x: int) -> str: return str(x)

        @gpu_profile
        def generator() -> Iterator[int]: yield 1

        @for_torch.gpu_profile(sync_fn=print)
        def trained(x: int) -> str: return str(x)

        assert_type(bare(1), str)
        assert_type(configured(1), str)
        assert_type(returning(1), ProfiledResult[str, GpuSummary])
        assert_type(repeated(1), ProfiledResult[str, MultiRunResult])
        task: Coroutine[Any, Any, ProfiledResult[str, GpuSummary]] = asynchronous(1)
        assert_type(generator(), Iterator[int])
        with GpuMonitor(device=[0, "GPU-1"]) as monitor:
            assert_type(monitor.summary.util_gpu_mean, Optional[float])
            assert_type(monitor.samples[0], GpuSample)
        bare("x")
        GpuMonitor(device=1.5)
    """))
    done = mypy("--strict", "--cache-dir=build/mypy", "python/gpu_profile", str(program))
    wrong = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [re.sub(r".*\[([\w-]+)\]$", r"\1", line) for line in wrong] == ["arg-type", "arg-type"], done.stdout
    assert all("program.py:" in line for line in wrong) and " source files)" in done.stdout
