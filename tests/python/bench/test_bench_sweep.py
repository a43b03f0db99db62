"""Sweeps and do_bench(): tables, files, going on after an interruption, plots by a stand-in for matplotlib."""

import csv
import dataclasses
import os
import pty
import subprocess
import sys
import types

import pytest

from gpu_profile import Benchmark, Error, bench, do_bench, perf_report
from gpu_profile import sweep as sweep_module
from gpu_profile.measurement import Interval

QUICK = {"min_time_s": 0, "min_warmup_s": 0, "min_samples": 8, "max_samples": 8, "timer": "host"}


def benchmark(**changes):
    values = {
        "x_names": ["n"], "x_vals": [1, 2, 3], "line_arg": "provider", "line_vals": ["a", "b"], "line_names": ["A", "B"],
        "plot_name": "grow/fast", "args": {"scale": 10}, "ylabel": "ms",
    }
    return Benchmark(**{**values, **changes})


class Counted:
    """The swept function: known figures, its calls kept, failing at one of them when told so."""

    def __init__(self, fail_at=None):
        self.calls, self.fail_at = [], fail_at

    def __call__(self, n, provider, scale, extra=0):
        if (n, provider) == self.fail_at:
            raise RuntimeError("stopped")
        self.calls.append((n, provider))
        return n * scale + extra if provider == "a" else (n * scale, n, 100 * n)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_table_of_a_sweep():
    rows = perf_report(benchmark())(Counted()).run(extra=0.5)
    assert rows == [
        {"n": n, "A": n * 10 + 0.5, "A-min": None, "A-max": None, "B": n * 10, "B-min": n, "B-max": 100 * n}
        for n in (1, 2, 3)
    ]


def test_the_parameters_of_tritons_tutorial():
    """Of its first one, with nothing changed but the import."""

    @perf_report(
        Benchmark(
            x_names=["size"],
            x_vals=[2**i for i in range(2, 5, 1)],
            x_log=True,
            line_arg="provider",
            line_vals=["triton", "torch"],
            line_names=["Triton", "Torch"],
            styles=[("blue", "-"), ("green", "-")],
            ylabel="GB/s",
            plot_name="vector-add-performance",
            args={"scale": 10},
        ))
    def benchmark(size, provider, scale):
        return size * scale, size, 2.0 * size

    rows = benchmark.run()
    assert [row["Triton"] for row in rows] == [40, 80, 160] and rows[0]["Torch-max"] == 8
    with pytest.raises(Error, match="styles has 1"):
        Benchmark(["x"], [1], "l", [1, 2], ["a", "b"], "p", {}, styles=[("blue", "-")])


def test_several_x_names_and_several_benchmarks():
    seen = []

    @perf_report([benchmark(x_names=["m", "k"], x_vals=[(1, 2), 5], plot_name="one"), benchmark(x_names=["m", "k"], plot_name="two")])
    def swept(m, k, provider, scale):
        seen.append((m, k))
        return 1.5

    first, second = swept.run()
    assert [(row["m"], row["k"]) for row in first] == [(1, 2), (5, 5)]
    assert len(second) == 3
    assert seen[:4] == [(1, 2), (1, 2), (5, 5), (5, 5)]
    assert swept(1, 2, "a", 0) == 1.5


def test_measurements_are_figures():
    found = dataclasses.replace(bench(sum, (), **QUICK), median_ns=2e6, interval=Interval(1e6, 3e6, 0.95))
    unsure = dataclasses.replace(found, interval=None)
    (row,) = perf_report(benchmark(x_vals=[500]))(lambda n, provider, scale: found if provider == "a" else unsure).run()
    assert [row[name] for name in ("A", "A-min", "A-max", "B", "B-min", "B-max")] == [2, 1, 3, 2, None, None]


def test_file_and_printed_table(tmp_path, capsys):
    perf_report(benchmark())(Counted()).run(print_data=True, save_path=tmp_path / "new")
    lines = rows_of(tmp_path / "new" / "grow_fast.csv")
    assert lines[0] == ["n", "A", "A-min", "A-max", "B", "B-min", "B-max"]
    assert lines[1] == ["1", "10.0", "", "", "10.0", "1.0", "100.0"]
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "grow/fast:"
    assert printed[1].split() == ["n", "A", "B", "B-min", "B-max"]
    assert printed[3].split() == ["2", "20", "20", "2", "200"]
    assert printed[-1] == "(ms)"


@pytest.mark.parametrize("torn", [b"", b"2,1", b"2,20.0,,,20.0,2.0,200.0"])
def test_goes_on_where_it_ended(tmp_path, capsys, torn):
    with pytest.raises(RuntimeError, match="stopped"):
        perf_report(benchmark())(Counted(fail_at=(2, "b"))).run(save_path=tmp_path)
    path = tmp_path / "grow_fast.csv"
    assert len(rows_of(path)) == 2
    path.write_bytes(path.read_bytes() + torn)
    again = Counted()
    rows = perf_report(benchmark())(again).run(save_path=tmp_path)
    assert again.calls == [(2, "a"), (2, "b"), (3, "a"), (3, "b")]
    assert rows == perf_report(benchmark())(Counted()).run()
    assert [line[0] for line in rows_of(path)] == ["n", "1", "2", "3"]
    assert f"{path}: 1 rows" in capsys.readouterr().err
    third = Counted()
    assert perf_report(benchmark())(third).run(save_path=tmp_path) == rows
    assert third.calls == []
    perf_report(benchmark())(third).run(save_path=tmp_path, resume=False)
    assert len(third.calls) == 6


@pytest.mark.parametrize("text, said", [
    ("time,value\n1,2\n", "different sweep"),
    ("my notes", "different sweep"),
    ("n,A,A-min,A-max,B,B-min,B-max\n1,2\n", "row 2 "),
    ("n,A,A-min,A-max,B,B-min,B-max\n1,x,,,,,\n", "row 2 "),
])
def test_other_files_are_left_alone(tmp_path, text, said):
    path = tmp_path / "grow_fast.csv"
    path.write_text(text)
    with pytest.raises(Error, match=said) as caught:
        perf_report(benchmark())(Counted()).run(save_path=tmp_path)
    assert caught.value.code == 3
    assert path.read_text() == text


def test_sweeps_that_cannot_be():
    with pytest.raises(Error, match="line_vals has 2 .*line_names has 1"):
        benchmark(line_names=["A"])
    with pytest.raises(Error, match="has 3 values for 1 x_names"):
        benchmark(x_vals=[(1, 2, 3)])
    with pytest.raises(Error, match="duplicate column name"):
        benchmark(line_names=["n", "B"])


class Plot:
    """Stands for pyplot, its figure and its axes: keeps what was called."""

    def __init__(self):
        self.called = []

    def subplots(self):
        return self, self

    def savefig(self, path):
        self.called.append(("savefig", (path,)))
        with open(path, "w") as file:
            file.write("a picture")

    def __getattr__(self, name):
        return lambda *args, **_: self.called.append((name, args))


def test_plot(tmp_path, monkeypatch):
    plot, matplotlib = Plot(), types.ModuleType("matplotlib")
    matplotlib.pyplot = plot
    monkeypatch.setitem(sys.modules, "matplotlib", matplotlib)
    perf_report(benchmark(x_log=True))(Counted()).run(save_path=tmp_path, show_plots=True)
    assert (tmp_path / "grow_fast.png").exists()
    drawn = [args for name, args in plot.called if name == "plot"]
    assert drawn == [([1, 2, 3], [10, 20, 30])] * 2
    assert [args for name, args in plot.called if name == "fill_between"] == [([1, 2, 3], [1, 2, 3], [100, 200, 300])]
    assert ("set_xscale", ("log",)) in plot.called
    assert ("show", ()) in plot.called


def test_no_plot_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(sweep_module, "_has_matplotlib", lambda: False)
    counted = Counted()
    with pytest.raises(ImportError, match="pip install matplotlib"):
        perf_report(benchmark())(counted).run(show_plots=True)
    assert counted.calls == []
    perf_report(benchmark())(counted).run(save_path=tmp_path)
    assert os.listdir(tmp_path) == ["grow_fast.csv"]


def test_plot_with_matplotlib_itself(tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    perf_report(benchmark())(Counted()).run(save_path=tmp_path)
    assert (tmp_path / "grow_fast.png").read_bytes().startswith(b"\x89PNG")


def test_data_frame(monkeypatch):
    fake = types.ModuleType("pandas")
    fake.DataFrame = lambda rows: ("frame", rows)
    monkeypatch.setitem(sys.modules, "pandas", fake)
    kind, rows = perf_report(benchmark())(Counted()).run(return_df=True)
    assert (kind, len(rows)) == ("frame", 3)


def test_progress_on_a_terminal():
    code = (
        "from gpu_profile import Benchmark, perf_report\n"
        "perf_report(Benchmark(['n'], [1, 2], 'p', ['a'], ['A'], 'grow', {}))(lambda n, p: n).run()"
    )
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True)
        shown = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "grow [" + "." * 30 + "] 0/2" in shown
    assert "grow [" + "#" * 30 + "] 2/2" in shown


def count(calls):
    calls.append(1)
    return sum(range(200))


def test_do_bench_results():
    calls = []
    times = do_bench(lambda: count(calls), warmup=1, rep=5, return_mode="all")
    assert isinstance(times, list)
    assert all(0 < time < 1000 for time in times)
    assert len(calls) > len(times)
    single = do_bench(lambda: count(calls), warmup=1, rep=5)
    assert isinstance(single, float)
    low, middle, high = do_bench(lambda: count(calls), warmup=1, rep=5, quantiles=[0.2, 0.5, 0.8])
    assert low <= middle <= high
    assert isinstance(do_bench(lambda: count(calls), warmup=1, rep=5, quantiles=[0.5]), float)


@pytest.mark.parametrize("mode, figure", [("min", 1), ("max", 10), ("mean", 4), ("median", 2.5), ("all", [10, 1, 2, 3])])
def test_do_bench_modes(monkeypatch, mode, figure):
    fixed(monkeypatch)
    assert do_bench(int, return_mode=mode) == figure


def test_do_bench_quantiles_are_interpolated(monkeypatch):
    fixed(monkeypatch)
    assert do_bench(int, quantiles=[0, 0.5, 1, 0.25]) == [1, 2.5, 10, 1.75]
    assert do_bench(int, quantiles=[0.5]) == 2.5


def fixed(monkeypatch):
    from gpu_profile import bench_triton

    found = types.SimpleNamespace(samples=[10e6, 1e6, 2e6, 3e6])
    monkeypatch.setattr(bench_triton, "measure", lambda *_: found)


def test_do_bench_forgets_gradients():
    tensor, seen = types.SimpleNamespace(grad=1), []

    def step():
        seen.append(tensor.grad)
        tensor.grad = 1

    do_bench(step, warmup=0, rep=2, grad_to_none=[tensor])
    assert len(seen) > 1
    assert set(seen) == {None}


def test_do_bench_that_cannot_be():
    with pytest.raises(Error, match="return_mode 'mode'"):
        do_bench(int, return_mode="mode")
    with pytest.raises(Error, match="quantile 2"):
        do_bench(int, quantiles=[2])
    with pytest.raises(ZeroDivisionError):
        do_bench(lambda: 1 / 0)


def test_texts_are_harmless_in_a_spreadsheet_and_read_back(tmp_path):
    values = ["=1+1", "'quoted", "-5", "-x", "a\x1b[31m"]
    seen = []

    @perf_report(benchmark(x_vals=values))
    def swept(n, provider, scale):
        seen.append(n)
        return 1.0

    swept.run(save_path=tmp_path)
    assert [row[0] for row in rows_of(tmp_path / "grow_fast.csv")[1:]] == ["'=1+1", "''quoted", "-5", "'-x", "a\ufffd[31m"]
    seen.clear()
    assert [row["n"] for row in swept.run(save_path=tmp_path)] == values
    assert seen == []  # every row was in the file


# Files are whole or absent.


def test_a_failing_disk_leaves_the_old_sweep(tmp_path, monkeypatch):
    path = tmp_path / "grow_fast.csv"
    perf_report(benchmark())(Counted()).run(save_path=tmp_path)
    path.chmod(0o640)
    old = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            perf_report(benchmark())(Counted()).run(save_path=tmp_path, resume=False)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".png"] == [path.name]
    perf_report(benchmark(x_vals=[7]))(Counted()).run(save_path=tmp_path, resume=False)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_row_that_does_not_fit_is_taken_back(tmp_path, monkeypatch):
    path = tmp_path / "grow_fast.csv"
    table = sweep_module._Table(benchmark(), str(tmp_path), True)
    whole = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        table.append(dict.fromkeys(benchmark().columns(), 1))
    assert path.read_bytes() == whole


def test_a_plot_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "plot.png"
    path.write_text("old")
    with pytest.raises(RuntimeError), sweep_module.atomic_replace(str(path)) as part:
        assert part.endswith(".png")
        with open(part, "w") as file:
            file.write("half")
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
