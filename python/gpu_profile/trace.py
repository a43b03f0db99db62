"""Recordings as tables: `gpu_profile.open(path)` reads a recording of any supported tool into memory, once.

Table columns stay in the memory of libgpuprof.so; pyarrow, polars and duckdb read them there through the Arrow C stream
interface, without a copy. Times are integer nanoseconds from the start of the recording. This module needs only the
standard library; methods for pandas, polars or pyarrow import them on use.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from typing import Any, NamedTuple

from . import arrow, pictures
from .arguments import unknown
from .errors import Error
from .native import check, declare, library
from .notebook import Page, Picture, page

__all__ = ["Column", "Predictions", "Table", "Trace", "open"]


class Column(NamedTuple):
    """A column of a table: `type` is integer, real, text or boolean; `unit` is None if values have no unit."""

    name: str
    type: str
    unit: str | None
    doc: str


class Table:
    """A table, an analysis or the result of a query. It implements the Arrow PyCapsule interface: pyarrow.table(t),
    polars.DataFrame(t) and duckdb read it in place."""

    def __init__(self, name: str, doc: str, handle: ctypes.c_void_p) -> None:
        self.name = name
        self.doc = doc
        self._library = _declared()
        self._handle = handle
        about = json.loads(self._library.gpuprof_table_json(handle))
        self._rows = int(about["rows"])
        self.columns = [Column(c["name"], c["type"], c["unit"], c["doc"]) for c in about["columns"]]

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.gpuprof_table_free(self._handle)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<gpu_profile.Table {self.name}: {len(self)} rows, columns {', '.join(c.name for c in self.columns)}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a capsule of an ArrowArrayStream. Ignores a requested schema; the reader must cast."""
        return arrow.capsule(self._stream())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return each column as a list of Python values, None where absent. If names repeat, the last column wins."""
        return arrow.values(self._stream(), [column.name for column in self.columns])

    def _stream(self) -> arrow.Stream:
        stream = arrow.Stream()
        check(self._library.gpuprof_table_stream(self._handle, ctypes.byref(stream)))
        return stream

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table on the same memory."""
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Return a polars.DataFrame; text columns are categorical."""
        import polars  # type: ignore[import-not-found, unused-ignore]

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame via pyarrow; text columns are categorical, with the occurring texts as
        categories."""
        frame = self.to_arrow().to_pandas()
        for name in frame.columns:
            if hasattr(frame[name], "cat"):
                frame[name] = frame[name].cat.remove_unused_categories()
        return frame


class Predictions(NamedTuple):
    """The table `whatif`: `rows` are dictionaries with kind, change, step_ns, low_ns, high_ns, gain_pct, confidence, assumes
    and others, none if the recording allows no prediction; `notes` say why, and what limits the predictions. Times are in
    ns, gains in percent of a step without the profiler's cost."""

    rows: list[dict[str, Any]]
    notes: list[str]


class Trace:
    """A recording. `tables` lists its tables and analyses; table(), report() and sql() return a Table."""

    def __init__(self, path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> None:
        """Read the files. Raises Error with the program's exit code and message if no file can be read."""
        self.path = os.fspath(path)
        self.paths = [self.path, *(os.fspath(each) for each in more)]
        self._library = _declared()
        self._handle = ctypes.c_void_p()
        paths = (ctypes.c_char_p * len(self.paths))(*(os.fsencode(each) for each in self.paths))
        check(self._library.gpuprof_trace_open(paths, len(paths), ctypes.byref(self._handle)))
        self._about: dict[str, Any] = json.loads(self._library.gpuprof_trace_json(self._handle))
        self._envelope: dict[str, Any] | None = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.gpuprof_trace_free(self._handle)
            self._handle = ctypes.c_void_p()

    def __repr__(self) -> str:
        return f"<gpu_profile.Trace {self.path}: {self._about['importer']}, {self.window_ns / 1e9:.3f} s>"

    @property
    def window_ns(self) -> int:
        """The time from the first start to the last end of all events."""
        return int(self._about["window_ns"])

    @property
    def time_origin_ns(self) -> int:
        """The zero of all times, on the clock of the recording."""
        return int(self._about["time_origin_ns"])

    @property
    def tables(self) -> list[str]:
        """Names for table(): the tables of the recording, then the analyses."""
        return [str(each["name"]) for each in self._about["tables"]]

    def table(self, name: str) -> Table:
        """Return a table or an analysis by its SQL name. Raises Error for an unknown name."""
        for each in self._about["tables"]:
            if each["name"] == name:
                return self._table(each)
        raise Error(2, unknown("table", name, self.tables))

    def report(self, analysis: str) -> Table:
        """Return all rows of an analysis by its name or alias in `gpu-profile report`. Raises Error for an unknown
        name."""
        for each in self._about["tables"]:
            if each["analysis"] is not None and analysis in (each["analysis"], *each["aliases"].split()):
                return self._table(each)
        raise Error(2, unknown("analysis", analysis, (each["analysis"] for each in self._about["tables"] if each["analysis"])))

    def sql(self, query: str, *, max_rows: int = 10_000_000, time_out_s: float = 0) -> Table:
        """Return the result of one SQL statement over `tables`. Ctrl-C cancels it.

        ``max_rows``: limit of rows, above which Error is raised (default 10,000,000; 0: no limit). ``time_out_s``:
        limit in seconds (default 0: no limit). Raises Error.
        """
        handle = ctypes.c_void_p()
        failed: list[Exception] = []

        def run() -> None:
            try:
                text = query.encode()
                if b"\0" in text:
                    raise Error(2, "the statement contains a NUL byte")
                check(self._library.gpuprof_trace_sql(self._handle, text, max_rows, time_out_s, ctypes.byref(handle)))
            except Exception as problem:
                failed.append(problem)

        worker = threading.Thread(target=run, name="gpu_profile.sql")
        worker.start()
        try:
            worker.join()
        except BaseException:
            self._library.gpuprof_trace_interrupt(self._handle)
            worker.join()
            self._library.gpuprof_table_free(handle)
            raise
        if failed:
            raise failed[0]
        return Table("query", query, handle)

    @property
    def kernels(self) -> Table:
        """One row per execution of a kernel: table("kernel"). The sums per name are report("kernels")."""
        return self.table("kernel")

    @property
    def memcpys(self) -> Table:
        """One row per copy: table("memcpy")."""
        return self.table("memcpy")

    @property
    def memsets(self) -> Table:
        """One row per fill: table("memset")."""
        return self.table("memset")

    @property
    def api_calls(self) -> Table:
        """One row per call of a CUDA or HIP function: table("api_call")."""
        return self.table("api_call")

    @property
    def ops(self) -> Table:
        """One row per framework operator: table("op")."""
        return self.table("op")

    @property
    def ranges(self) -> Table:
        """One row per annotated span: table("range")."""
        return self.table("range")

    @property
    def samples(self) -> Table:
        """One row per sampled value: table("sample")."""
        return self.table("sample")

    @property
    def verdict(self) -> dict[str, Any]:
        """The verdict of `gpu-profile report`: name, share_pct, because, alternatives."""
        verdict: dict[str, Any] = self._answer()["verdict"]
        return verdict

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of `gpu-profile report`, with cost, evidence and remedy."""
        findings: list[dict[str, Any]] = self._answer()["findings"]
        return findings

    def whatif(self, *changes: str, step_range: str | None = None, input_range: str | None = None) -> Predictions:
        """Predict how long a step would be with something changed, by replaying the recording.

        ``changes``: as for `gpu-profile whatif --change`: "input", "waits", "k-1=0.5", "kernel:gemm=0.5"; each alone,
        and all together. Without any, each known change, and the plan of the best. ``step_range``, ``input_range``:
        names of the ranges of a step and of fetching input. Raises Error for an unknown change.
        """
        from .program import report

        options: dict[str, Any] = {"changes": ";".join(changes) or None, "step_range": step_range, "input_range": input_range}
        table = report(*self.paths, "whatif", limit=0, **options)["tables"][0]
        names = [column["name"] for column in table["columns"]]
        return Predictions([dict(zip(names, row)) for row in table["rows"]], table["notes"])

    def view(self, *, base: str | os.PathLike[str] | None = None, height: int = 700) -> Page:
        """Return the viewer's page, which notebooks show. It is the file of `gpu-profile export html`; `save` writes it.

        ``base``: an earlier recording to compare with. ``height``: of the frame, in pixels. Raises Error.
        """
        return page(self.paths, None if base is None else os.fspath(base), height)

    def timeline(self) -> Picture:
        """Return when each stream of each device ran kernels, copies and fills, as SVG. Raises Error if none did."""
        return Picture(pictures.timeline(self), "timeline")

    def roofline(self) -> Picture:
        """Return kernels with counters, otherwise operators with shapes, under the peaks of the device, as SVG. Raises
        Error, which says what was not recorded."""
        return Picture(pictures.roofline(self), "roofline")

    def to_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write each non-empty table of the recording to FOLDER/NAME.parquet, using pyarrow, and return the paths."""
        import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

        os.makedirs(folder, exist_ok=True)
        written = []
        for each in self._about["tables"]:
            if each["analysis"] is not None:
                continue
            table = self._table(each)
            if len(table) == 0:
                continue
            path = os.path.join(os.fspath(folder), f"{table.name}.parquet")
            pyarrow.parquet.write_table(table.to_arrow(), path)
            written.append(path)
        return written

    def _table(self, about: dict[str, Any]) -> Table:
        handle = ctypes.c_void_p()
        check(self._library.gpuprof_trace_table(self._handle, about["name"].encode(), ctypes.byref(handle)))
        return Table(about["name"], about["doc"], handle)

    def _answer(self) -> dict[str, Any]:
        # Runs the program, so that Python and the command line always report on the same part of a recording.
        if self._envelope is None:
            from .program import report

            self._envelope = report(*self.paths)
        return self._envelope


def open(path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> Trace:  # noqa: A001
    """Read a recording of any supported tool. Several files, or a folder, are the processes of one job. Raises
    Error."""
    return Trace(path, *more)


_declared_library: ctypes.CDLL | None = None


def _declared() -> ctypes.CDLL:
    global _declared_library
    if _declared_library is None:
        lib, handle, text = library(), ctypes.c_void_p, ctypes.c_char_p
        out, table = ctypes.POINTER(handle), handle
        declare(lib, (
            ("gpuprof_trace_open", ctypes.c_int, [ctypes.POINTER(text), ctypes.c_size_t, out]),
            ("gpuprof_trace_free", None, [handle]),
            ("gpuprof_trace_json", text, [handle]),
            ("gpuprof_trace_table", ctypes.c_int, [handle, text, out]),
            ("gpuprof_trace_sql", ctypes.c_int, [handle, text, ctypes.c_uint64, ctypes.c_double, out]),
            ("gpuprof_trace_interrupt", None, [handle]),
            ("gpuprof_table_json", text, [table]),
            ("gpuprof_table_stream", ctypes.c_int, [table, ctypes.POINTER(arrow.Stream)]),
            ("gpuprof_table_free", None, [table]),
        ))
        _declared_library = lib
    return _declared_library
