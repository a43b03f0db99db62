"""`%%gpu_profile` and `%gpu_profile` for IPython and Jupyter: the decorator around a cell or a statement. Loaded by
``%load_ext gpu_profile``; the only module that needs IPython.

The summary is shown as the cell ends, also if it raises; the exception then reaches IPython as from any other cell.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from typing import TYPE_CHECKING, Any, Callable

from .arguments import unknown
from .decorator import gpu_profile
from .errors import Error

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_NAME = "gpu_profile"
_USAGE = """usage: %gpu_profile [OPTIONS] STATEMENT, or %%gpu_profile [OPTIONS] above a cell

--device, --interval-s, --backend, --warmup-s, --repeats, --warmup-runs, --strict
                 as the arguments of the decorator gpu_profile
--sync-fn EXPR   a function in the notebook that waits for the device
--torch          PyTorch's current device, and torch.cuda.synchronize
--result NAME    keep the GpuSummary (of several devices: a list; with --repeats a MultiRunResult) as this variable"""
_OPTION = re.compile(r"""\s*--([a-z][a-z-]*)(?:\s*=\s*|\s+|$)""")
_VALUE = re.compile(r""""([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+)""")
# None: a flag.
_OPTIONS: dict[str, Callable[[str], Any] | None] = {
    "device": str, "interval-s": float, "backend": str, "warmup-s": float, "repeats": int, "warmup-runs": int,
    "strict": None, "sync-fn": str, "torch": None, "result": str,
}  # fmt: skip


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; IPython calls this for ``%load_ext gpu_profile``."""
    run = functools.partial(_magic, shell)
    run.__doc__ = f"Monitor the device while a statement or a cell runs.\n\n{_USAGE}"
    shell.register_magic_function(run, "line_cell", _NAME)


def unload_ipython_extension(shell: Any) -> None:
    for magics in shell.magics_manager.magics.values():
        magics.pop(_NAME, None)


def split_line(line: str) -> tuple[dict[str, Any], str]:
    """Split a line into options and the rest, a statement. Raises ValueError with a one-line message."""
    options: dict[str, Any] = {}
    at = 0
    while found := _OPTION.match(line, at):
        name = found[1]
        at = found.end()
        if name not in _OPTIONS:
            raise ValueError(unknown("option", f"--{name}", [f"--{each}" for each in _OPTIONS]))
        convert = _OPTIONS[name]
        if convert is None:
            options[name.replace("-", "_")] = True
            continue
        value = _VALUE.match(line, at)
        if value is None:
            raise ValueError(f"--{name} needs a value")
        text = next(group for group in value.groups() if group is not None)
        at = value.end()
        try:
            options[name.replace("-", "_")] = convert(text)
        except ValueError:
            raise ValueError(f"--{name}: expected a number, not '{text}'") from None
    return options, line[at:].strip()


def _magic(shell: Any, line: str, cell: str | None = None) -> Any:
    from IPython.core.error import UsageError  # type: ignore[import-not-found, unused-ignore]

    try:
        options, statement = split_line(line)
        if cell is None and not statement:
            raise ValueError(_USAGE)
        if cell is not None and statement:
            raise ValueError(f"unexpected '{statement}' after %%gpu_profile; expected options only")
        body = _compiled(shell, statement, "") if cell is None else _compiled(shell, cell, "\n")
        results: list[Any] = []
        wrap = _decorator(shell, options, results)
    except (ValueError, TypeError, Error) as problem:  # SyntaxError is none of these and is shown as IPython shows it
        raise UsageError(str(problem)) from None
    __tracebackhide__ = True
    try:
        return wrap(body)()
    except BaseException as problem:
        raise problem.with_traceback(_user_part(problem.__traceback__))
    finally:
        if results and "result" in options:
            shell.user_ns[options["result"]] = results[0] if len(results) == 1 else results


def _user_part(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames of this package around the cell's."""
    own = os.path.dirname(__file__) + os.sep
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename.startswith(own):
        inner = inner.tb_next
    return trace if inner is None else inner


def _decorator(shell: Any, options: dict[str, Any], results: list[Any]) -> Any:
    """The decorator with these options; it shows each result and appends it to `results`."""
    if not str(options.get("result", "x")).isidentifier():
        raise ValueError(f"--result: expected the name of a variable, not '{options['result']}'")
    profiled: Any = gpu_profile
    if options.get("torch"):
        from . import torch

        profiled = torch.gpu_profile
    given = {name: value for name, value in options.items() if name not in ("torch", "result")}
    if "sync_fn" in options:
        try:
            given["sync_fn"] = eval(options["sync_fn"], shell.user_global_ns, shell.user_ns)
        except Exception as problem:
            raise ValueError(f"--sync-fn {options['sync_fn']}: {type(problem).__name__}: {problem}") from None

    def show(result: Any) -> None:
        results.append(result)
        _display(result)

    return profiled(**given, report=show)


def _display(result: Any) -> None:
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    display({"text/plain": result.format(), "text/html": result._repr_html_()}, raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def _compiled(shell: Any, source: str, before: str) -> Callable[[], Any]:
    """Return a function that runs `source` in the notebook's namespace and returns the value of its last expression. `before`: empty
    lines in place of the magic, so that lines are numbered as in the cell. Raises SyntaxError as a cell does, and ValueError for code that only a coroutine can run."""
    text = before + shell.transform_cell(source)
    name = shell.compile.cache(text, shell.execution_count)  # so that a traceback shows the lines
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    try:
        statements = shell.compile(tree, name, "exec")
        value = None if last is None else shell.compile(ast.Expression(last.value), name, "eval")
    except SyntaxError as problem:
        if "await" in str(problem) or "async" in str(problem):
            raise ValueError("%%gpu_profile cannot run a cell with await; use: async with gpu_profile.GpuMonitor() as monitor") from None
        raise

    def run() -> Any:
        exec(statements, shell.user_global_ns, shell.user_ns)
        return None if value is None else eval(value, shell.user_global_ns, shell.user_ns)

    return run
