"""Sweeps in the style of triton.testing: benchmarks a function over values of its arguments, as a table, CSV and plot.

    @perf_report(Benchmark(x_names=["size"], x_vals=[1024, 4096], line_arg="provider", line_vals=["a", "b"],
                           line_names=["A", "B"], plot_name="copy", args={}))
    def copy(size, provider): return bench(...)

    copy.run(print_data=True, save_path="results")

The function returns a figure, (figure, low, high), or a Measurement, whose figure is the median in ms. With
``save_path`` each finished row is written to PLOT_NAME.csv immediately; an interrupted run resumes after the last
complete row. A file of a different sweep is rejected, never overwritten. Missing figures are empty cells, and None in
the rows.
"""

from __future__ import annotations

import csv
import dataclasses
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Callable

from .errors import Error
from .measurement import Measurement
from .sanitize import sanitized
from .atomic_file import atomic_replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Row = dict[str, Any]

__all__ = ["Benchmark", "Sweep", "perf_report"]


@dataclasses.dataclass
class Benchmark:
    """The parameters of a sweep: ``x_names`` take each of ``x_vals`` (a common value or a tuple), for each of
    ``line_vals``."""

    x_names: Sequence[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: Sequence[str]
    plot_name: str
    args: dict[str, Any]
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: Sequence[tuple[str, str]] | None = None  # colour and line style of each line in the plot

    def __post_init__(self) -> None:
        if len(self.line_names) != len(self.line_vals):
            raise Error(2, f"{self.plot_name}: line_vals has {len(self.line_vals)} items, but line_names has {len(self.line_names)}")
        if self.styles is not None and len(self.styles) != len(self.line_vals):
            raise Error(2, f"{self.plot_name}: line_vals has {len(self.line_vals)} items, but styles has {len(self.styles)}")
        if len(set(self.columns())) != len(self.columns()):
            raise Error(2, f"{self.plot_name}: duplicate column name among {', '.join(self.columns())}")
        for x in self.x_vals:
            self.x_of(x)

    def columns(self) -> list[str]:
        """Return the columns of the table and the CSV file: the x names, and three per line."""
        lines = [column for name in self.line_names for column in (name, f"{name}-min", f"{name}-max")]
        return [*self.x_names, *lines]

    def x_of(self, x: Any) -> Row:
        """Return the arguments for one of the x values."""
        values = list(x) if isinstance(x, (list, tuple)) else [x] * len(self.x_names)
        if len(values) != len(self.x_names):
            raise Error(2, f"{self.plot_name}: {x!r} has {len(values)} values for {len(self.x_names)} x_names")
        return dict(zip(self.x_names, values))


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Sweep]:
    """Decorator: turns the function into a Sweep, whose run() benchmarks it."""
    return lambda fn: Sweep(fn, benchmarks)


class Sweep:
    """A function and the parameters of its sweep. Calling it calls the function."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def run(
        self,
        print_data: bool = False,
        show_plots: bool = False,
        save_path: str | os.PathLike[str] = "",
        return_df: bool = False,
        resume: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Run the sweep and return its rows as dictionaries (one list per benchmark if several), or DataFrames with
        ``return_df``.

        ``print_data``: print the table. ``show_plots``: show the plots (needs matplotlib). ``save_path``: folder for
        PLOT_NAME.csv and, if matplotlib is available, PLOT_NAME.png. ``resume=False``: start the file anew. ``kwargs``
        are passed to the function. Raises Error for a file of a different sweep, and exceptions of the function
        unchanged.
        """
        if isinstance(self.benchmarks, Benchmark):
            return self._run(self.benchmarks, print_data, show_plots, os.fspath(save_path), return_df, resume, kwargs)
        return [self._run(one, print_data, show_plots, os.fspath(save_path), return_df, resume, kwargs) for one in self.benchmarks]

    def _run(self, sweep: Benchmark, print_data: bool, show_plots: bool, folder: str, return_df: bool, resume: bool, kwargs: Row) -> Any:
        if show_plots:
            _pyplot()  # fail now rather than after an hour of measuring
        rows = list(self._rows(sweep, _Table(sweep, folder, resume) if folder else None, kwargs))
        if print_data:
            print(f"{sweep.plot_name}:\n{_text(sweep, rows)}")
        if show_plots or (folder and _has_matplotlib()):
            _plot(sweep, rows, _file(sweep, folder, "png") if folder else None, show_plots)
        if return_df:
            from .summary import data_frame

            return data_frame(rows)
        return rows

    def _rows(self, sweep: Benchmark, table: _Table | None, kwargs: Row) -> Iterator[Row]:
        for number, x in enumerate(sweep.x_vals):
            at = sweep.x_of(x)
            row = table.stored(at) if table is not None else None
            if row is None:
                row = self._row(sweep, at, number, kwargs)
                if table is not None:
                    table.append(row)
            yield row
        _show_progress(sweep, len(sweep.x_vals), 0)

    def _row(self, sweep: Benchmark, at: Row, number: int, kwargs: Row) -> Row:
        row = dict(at)
        for place, (value, name) in enumerate(zip(sweep.line_vals, sweep.line_names)):
            _show_progress(sweep, number, place)
            found = self.fn(**at, **{sweep.line_arg: value}, **sweep.args, **kwargs)
            row[name], row[f"{name}-min"], row[f"{name}-max"] = _figures(found)
        return row


class _Table:
    """The CSV file of a sweep: reads existing rows and appends new ones. An incomplete last line is removed."""

    def __init__(self, sweep: Benchmark, folder: str, resume: bool) -> None:
        os.makedirs(folder, exist_ok=True)
        self._sweep = sweep
        self._path = _file(sweep, folder, "csv")
        self._rows: dict[tuple[str, ...], Row] = {}
        header = _line(sweep.columns())
        text = self._stored() if resume else b""
        whole = text[: text.rfind(b"\n") + 1]
        if not whole and header.startswith(text):
            with atomic_replace(self._path) as part, open(part, "wb") as file:
                file.write(header)
            return
        if not whole.startswith(header):
            raise Error(3, f"cannot resume from {self._path}: it belongs to a different sweep; move it, or overwrite it with resume=False")
        self._read(whole[len(header) :])
        with open(self._path, "r+b") as file:
            file.truncate(len(whole))
        if self._rows:
            print(f"gpu_profile: resumed from {self._path}: {len(self._rows)} rows", file=sys.stderr)

    def stored(self, at: Row) -> Row | None:
        """Return the row of these x values, with the values themselves instead of their text."""
        row = self._rows.get(tuple(sanitized(str(value)) for value in at.values()))
        return None if row is None else {**row, **at}

    def append(self, row: Row) -> None:
        line = _line([row[column] for column in self._sweep.columns()])
        with open(self._path, "ab", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)  # complete rows only
                raise

    def _stored(self) -> bytes:
        try:
            with open(self._path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _read(self, lines: bytes) -> None:
        columns = self._sweep.columns()
        names = len(self._sweep.x_names)
        for number, cells in enumerate(csv.reader(io.StringIO(lines.decode("utf-8", "replace"), newline="")), 2):
            try:
                figures = [float(cell) if cell else None for cell in cells[names:]]
            except ValueError:
                figures = []
            if len(cells) != len(columns) or not figures:
                raise Error(3, f"cannot resume from {self._path}: row {number} does not fit this sweep; correct it, or overwrite the file with resume=False")
            self._rows[tuple(cells[:names])] = dict(zip(columns, [*cells[:names], *figures]))


def _figures(found: Any) -> tuple[float | None, float | None, float | None]:
    if isinstance(found, Measurement):
        interval = found.interval
        return found.median_ms, interval and interval.low / 1e6, interval and interval.high / 1e6
    if isinstance(found, (list, tuple)):
        figure, low, high = found
        return _number(figure), _number(low), _number(high)
    return _number(found), None, None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _line(cells: Sequence[Any]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([sanitized(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue().encode()


def _file(sweep: Benchmark, folder: str, ending: str) -> str:
    return os.path.join(folder, "".join(c if c.isalnum() or c in " ._-+=," else "_" for c in sweep.plot_name) + "." + ending)


def _text(sweep: Benchmark, rows: list[Row]) -> str:
    columns = [one for one in sweep.columns() if one in sweep.x_names or any(row[one] is not None for row in rows)]
    cells = [columns, *([_cell(row[one]) for one in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    unit = [f"({sweep.ylabel})"] if sweep.ylabel else []
    return "\n".join(["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells] + unit)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _show_progress(sweep: Benchmark, number: int, line: int) -> None:
    if not sys.stderr.isatty():
        return
    done, total = number * len(sweep.line_vals) + line, len(sweep.x_vals) * len(sweep.line_vals)
    filled = 30 * done // max(1, total)
    end = "\n" if done == total else ""
    print(f"\r{sweep.plot_name} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def _has_matplotlib() -> bool:
    import importlib.util

    return "matplotlib" in sys.modules or importlib.util.find_spec("matplotlib") is not None


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as problem:
        raise ImportError("plots need matplotlib: pip install matplotlib") from problem
    return pyplot


# Plots over the first x name; intervals become bands. Uses a separate figure, so that plots of the program are not
# affected.
def _plot(sweep: Benchmark, rows: list[Row], path: str | None, show: bool) -> None:
    pyplot = _pyplot()
    figure, axes = pyplot.subplots()
    for name, style in zip(sweep.line_names, sweep.styles or [("", "")] * len(sweep.line_names)):
        points = [(row[sweep.x_names[0]], row[name], row[f"{name}-min"], row[f"{name}-max"]) for row in rows if row[name] is not None]
        axes.plot([point[0] for point in points], [point[1] for point in points], label=name,
                  **{key: value for key, value in zip(("color", "linestyle"), style) if value})
        bands = [point for point in points if point[2] is not None and point[3] is not None]
        if bands:
            axes.fill_between([p[0] for p in bands], [p[2] for p in bands], [p[3] for p in bands], alpha=0.15)
    axes.set_xlabel(sweep.xlabel or sweep.x_names[0])
    axes.set_ylabel(sweep.ylabel)
    axes.set_xscale("log" if sweep.x_log else "linear")
    axes.set_yscale("log" if sweep.y_log else "linear")
    axes.set_title(sweep.plot_name)
    axes.legend()
    if path is not None:
        with atomic_replace(path) as part:
            figure.savefig(part)
    if show:
        pyplot.show()
    pyplot.close(figure)
