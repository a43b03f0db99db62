"""The tools, declared once: name, what it answers, its parameters, and the words of the command that answers it.

No tool runs code of the user, starts a recording, or writes: the commands here only read, and no option that names an
output is among the parameters.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import Error
from . import answer, investigations
from .parameters import Parameter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .service import Service

__all__ = ["TOOLS", "Tool"]

_USAGE = 2
_DEFAULT_ROWS, _MOST_ROWS = 20, 1000

_FILE = Parameter(
    "file", "path", "Recording of any supported tool, or a folder with the recordings of one job; relative to the server's folder", required=True
)
_LIMIT = Parameter("limit", "whole", "Rows of each table", default=_DEFAULT_ROWS, lowest=1, highest=_MOST_ROWS)
_OFFSET = Parameter("offset", "whole", "First row of each table, from 0: limits.left_out says where to go on", default=0)
_SELECTION = (
    Parameter("device", "whole", "Device to analyse; all without it", flag="--device", highest=1 << 20),
    Parameter("step_range", "text", "Range or operator that marks one step; detected without it", flag="--step-range"),
)
_OPTIONS = (
    *_SELECTION,
    Parameter("gap_min_ns", "whole", "Shortest idle gap in the table gaps, in ns (without it: 1000)", flag="--gap-min-ns", highest=1 << 53),
)


@dataclass(frozen=True)
class Tool:
    """`answer` returns the data of an answer for the checked arguments of a call."""

    name: str
    title: str
    doc: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Service, dict[str, Any]], Awaitable[dict[str, Any]]]


def _flags(parameters: tuple[Parameter, ...], given: dict[str, Any]) -> list[str]:
    """The options of the command line of those parameters that become one."""
    words = []
    for each in parameters:
        value = given[each.name]
        if not each.flag or value is None or value is False:
            continue
        words += [each.flag] if value is True else [f"{each.flag}={item}" for item in (value if isinstance(value, list) else [value])]
    return words


async def _rows(service: Service, given: dict[str, Any], *words: str, sql: str = "") -> dict[str, Any]:
    """Ask for JSON with the rows of the page, and return that page."""
    offset, limit = given["offset"], given["limit"]
    document = await service.document([*words, f"--limit={offset + limit}"], sql=sql)
    return answer.shaped(document, offset, limit)


# files


async def _files(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    folder = service.roots.resolve(given["folder"], entries=False)
    if not os.path.isdir(folder):
        raise Error(_USAGE, f"files: '{given['folder']}' is not a folder")
    with os.scandir(folder) as entries:
        rows = [_entry(service, entry) for entry in sorted(entries, key=lambda entry: entry.name)]
    columns = [{"name": "path"}, {"name": "kind"}, {"name": "bytes", "unit": "bytes"}]
    page = rows[given["offset"] : given["offset"] + given["limit"]]
    return {"tables": [{"name": "files", "row_count": len(rows), "offset": given["offset"], "columns": columns, "rows": page, "notes": []}]}


def _entry(service: Service, entry: os.DirEntry[str]) -> list[Any]:
    path = service.roots.shown(entry.path)
    if entry.is_symlink():
        return [path, "link", None]
    return [path, "folder", None] if entry.is_dir() else [path, "file", entry.stat().st_size]


# report

_REPORT = (
    _FILE,
    Parameter("analyses", "texts", "Analyses to show, as the tool schema lists them; the first answer without them: verdict, findings, predictions"),
    _LIMIT,
    _OFFSET,
    Parameter("from", "text", "Start of the part to analyse: seconds from the start, or with a unit (464ms, 20us)", flag="--from"),
    Parameter("to", "text", "End of that part", flag="--to"),
    Parameter("whole", "flag", "Analyse the whole recording with start-up, not only the part with most work", flag="--whole"),
    Parameter("input_range", "text", "Range, operator or Python function that fetches input; data loaders are detected without it", flag="--input-range"),
    *_OPTIONS,
)


async def _report(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    await service.check_analyses(given["analyses"])
    return await _rows(service, given, "report", service.roots.resolve(given["file"]), *given["analyses"], *_flags(_REPORT, given))


# query

_QUERY = (
    _FILE,
    Parameter("sql", "text", "SQLite SELECT over tables (kernel, api_call, op, ...) and analyses (kernels, idle, ...); the tool schema has their columns", required=True),
    _LIMIT,
    _OFFSET,
    *_OPTIONS,
)


async def _query(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    if not given["sql"].strip() or given["sql"].lstrip().startswith("."):
        raise Error(_USAGE, "query: 'sql' must be SQL; the tool schema lists tables and columns")
    file = service.roots.resolve(given["file"])
    return await _rows(service, given, "query", file, *_flags(_QUERY, given), f"--time-out={service.time_out:g}", sql=given["sql"])


# compare

_COMPARE = (
    Parameter("base", "path", "Recording before the change", required=True),
    Parameter("new", "path", "Recording after the change", required=True),
    Parameter("analyses", "texts", "Tables: metrics and attribution without them; also kernels, ops, ranges, devices, steps, memcpy, memset, api, idle, collectives, streams"),
    Parameter("repeat_base", "paths", "Further recordings of the same state as base: they show the variation from run to run"),
    Parameter("repeat_new", "paths", "Further recordings of the same state as new"),
    _LIMIT,
    _OFFSET,
    *_SELECTION,
)


async def _compare(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    await service.check_analyses(given["analyses"], ("metrics", "attribution"))
    sides = [service.roots.resolve(given[name]) for name in ("base", "new")]
    repeats = [f"--{name.replace('_', '-')}={service.roots.resolve(file)}" for name in ("repeat_base", "repeat_new") for file in given[name]]
    return await _rows(service, given, "compare", *sides, *given["analyses"], *repeats, *_flags(_COMPARE, given))


# whatif

_WHATIF = (
    _FILE,
    Parameter(
        "changes",
        "texts",
        "Changes made together, such as input, waits, pinned-copies, cuda-graph, k-1=0.5 (the first kernel takes half its time); without them each known change is tried",
        flag="--change",
    ),
    _LIMIT,
    _OFFSET,
    Parameter("input_range", "text", "Range, operator or Python function that fetches input; data loaders are detected without it", flag="--input-range"),
    *_SELECTION,
)


async def _whatif(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return await _rows(service, given, "whatif", service.roots.resolve(given["file"]), *_flags(_WHATIF, given))


# kernel

_KERNEL = (
    _FILE,
    Parameter("kernel", "text", "Handle (k-3: the third row of the analysis kernels), name, or a part of one; the one with the most time without it", flag="--kernel"),
    Parameter("launch", "whole", "Profiled launch to show; the longest without it", flag="--launch"),
    _LIMIT,
    _OFFSET,
)


async def _kernel(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return await _rows(service, given, "report", service.roots.resolve(given["file"]), "kernel", "source", *_flags(_KERNEL, given))


_KERNEL_INFO = (
    Parameter("file", "path", "Compiled kernels: a cubin", required=True),
    Parameter("threads", "whole", "Threads per block for the occupancy; (default: those of the launch bounds, else 256)", flag="--threads", lowest=1, highest=1024),
    Parameter("shared_bytes", "whole", "Dynamic shared memory per block, in bytes", flag="--shared-bytes"),
    Parameter("lines", "flag", "Show source lines and their instructions instead", flag="--lines"),
    _LIMIT,
    _OFFSET,
)


async def _kernel_info(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return await _rows(service, given, "kernel-info", service.roots.resolve(given["file"]), *_flags(_KERNEL_INFO, given))


# ranks

_RANKS_TABLES = ("ranks", "stragglers", "job_steps", "rank_collectives", "imbalance", "pipeline", "links", "hosts", "hangs")
_RANKS = (
    Parameter("path", "path", "Folder with one recording of each rank", required=True),
    Parameter("tables", "texts", f"Tables to show: {', '.join(_RANKS_TABLES)}; the verdict, stragglers and ranks without them", choices=_RANKS_TABLES),
    Parameter("expect", "whole", "Number of ranks of the job, if the recordings do not say it", flag="--expect", lowest=1),
    Parameter("job", "text", "Which job to read if the files are of several: its number, or all", flag="--job"),
    Parameter("steps", "text", "Steps that prices are based on: all, a number, slowest:8 or 100:200", flag="--steps"),
    _LIMIT,
    _OFFSET,
)


async def _ranks(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    words = ["ranks", service.roots.resolve(given["path"]), *given["tables"], *_flags(_RANKS, given), "--quiet", f"--cache={service.scratch.folder()}"]
    return await _rows(service, given, *words)


# tune

_TUNE = (
    Parameter("folder", "path", "Folder of the investigation", required=True),
    Parameter("what", "text", "status: all that is known, as JSON; next: what to try, with its predicted gain; report: the Markdown report", default="status", choices=("status", "next", "report")),
    Parameter("limit", "whole", "Lines of the report, states or suggestions", default=200, lowest=1, highest=_MOST_ROWS),
    Parameter("offset", "whole", "First of them, from 0", default=0),
)


async def _tune(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    folder = service.roots.resolve(given["folder"])
    if given["what"] == "report":
        return answer.page_of_lines(investigations.report(folder), given["offset"], given["limit"])
    investigations.check_recordings(folder, service.roots)
    found = await service.document(["tune", given["what"], f"--folder={folder}"])
    page = slice(given["offset"], given["offset"] + given["limit"])
    if given["what"] == "next":
        return {"count": len(found["items"]), "next": found["items"][page]}
    states = found.pop("states")  # the only part that grows; state 0 is the baseline
    return {"status": {**found, "state_count": len(states)}, "states": states[page]}


# schema and help

_SCHEMA = (
    Parameter("name", "text", "Analysis, table, or list (options, metrics, losses, exit_codes, importers, kernel_metrics, ...); all names without it", default=""),
    Parameter("limit", "whole", "Rows of each table", default=100, lowest=1, highest=_MOST_ROWS),
    _OFFSET,
)


async def _schema(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    lists = await service.declared()
    name = given["name"]
    columns = [name for name in ("analysis_columns", "columns") if name in lists]
    chosen = []
    if not name:
        chosen = [lists["analyses"], lists["tables"]]
    elif name in lists and name not in columns:
        chosen = [lists[name]]
    else:
        for each in columns:
            rows = [row for row in lists[each]["rows"] if row[0] == name]
            if rows:
                title = "columns of the analysis" if each == "analysis_columns" else "columns of the table"
                chosen.append({**lists[each], "name": f"{title} {name}", "rows": rows})
    if not chosen:
        raise Error(_USAGE, f"schema: unknown name '{name}'; schema without a name lists analyses and tables, and the other lists are: {', '.join(lists)}")
    tables = [{**table, "row_count": len(table["rows"])} for table in chosen]
    return answer.shaped({"tables": tables}, given["offset"], given["limit"])


_HELP = (
    Parameter("topic", "text", "Page of the documentation; the list of pages without it", default=""),
    Parameter("limit", "whole", "Lines", default=200, lowest=1, highest=_MOST_ROWS),
    Parameter("offset", "whole", "First line, from 0", default=0),
)


async def _help(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    if given["topic"].startswith("-"):
        raise Error(_USAGE, f"help: unknown topic '{given['topic']}'")
    text = await service.run(["help", *([given["topic"]] if given["topic"] else [])])
    return answer.page_of_lines(text.decode("utf-8", "replace"), given["offset"], given["limit"])


_FILES = (Parameter("folder", "path", "Folder to list", default="."), Parameter("limit", "whole", "Entries", default=100, lowest=1, highest=_MOST_ROWS), _OFFSET)

TOOLS = (
    Tool("files", "List files", "List the files and folders of a folder that the server may read.", _FILES, _files),
    Tool(
        "report",
        "Report",
        "Say where the time went. Without analyses: what limits the run, findings with evidence and remedy, predicted steps, and the largest kernels and gaps. "
        "With analyses: one table for each. Handles such as k-1, gap-3 or idle-1 name rows of an analysis of the whole recording.",
        _REPORT,
        _report,
    ),
    Tool("query", "Query", "Run read-only SQL over the tables and analyses of a recording. Times are in ns from the start of the recording; an unknown value is null.", _QUERY, _query),
    Tool("compare", "Compare", "Compare two recordings of one program: faster, slower, same or cannot tell, with the noise and the parts of the difference.", _COMPARE, _compare),
    Tool("whatif", "Predict", "Predict the time of a step with something changed, by replaying the recording. Each prediction has a range and what it assumes.", _WHATIF, _whatif),
    Tool("kernel", "One kernel", "Show the hardware counters and source lines of one kernel, if the recording has them.", _KERNEL, _kernel),
    Tool("kernel_info", "Compiled kernels", "Show registers, shared memory, spills and occupancy of the kernels of a cubin.", _KERNEL_INFO, _kernel_info),
    Tool("ranks", "Many ranks", "Say who holds a distributed job up and what that costs, from one recording of each rank.", _RANKS, _ranks),
    Tool("tune", "Investigation", "Show an investigation that `gpu-profile tune` keeps: noise, trials, measured and predicted gains, decisions; or what to try next.", _TUNE, _tune),
    Tool("schema", "Schema", "List analyses and tables; with a name, the columns of one with type, unit and meaning.", _SCHEMA, _schema),
    Tool("help", "Documentation", "Show a page of the documentation: concepts, glossary, commands, guides.", _HELP, _help),
)
