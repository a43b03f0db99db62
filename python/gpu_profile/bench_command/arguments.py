"""The arguments of a benched call: words of the command line, inputs(seed) of a file, or made arrays.

A word is a Python literal (3, 0.5, None, [1, 2], 'text'), or an array to be made: NxM:dtype. A word that is neither is refused,
not guessed to be text. Arrays are made as evaluate makes them (evaluation/inputs.py): standard normal numbers, as what the
file imports.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from typing import Any, Callable

from ..evaluation.inputs import imports_of, made_inputs
from .options import UsageError

__all__ = ["SEED", "arguments_of", "family_of"]

SEED = 0  # the same arguments in every run, so that two runs can be compared
_ARRAY = re.compile(r"([1-9]\d*(?:x[1-9]\d*)*):([A-Za-z]\w*)")
_MADE = "1024x1024:float32"


def family_of(path: str) -> str:
    """The framework that made arrays belong to."""
    imported = imports_of(path)
    return next((name for name in ("torch", "cupy") if name in imported), "numpy")


def arguments_of(fn: Callable[..., Any], words: list[str] | None, inputs: Callable[[int], Any] | None, family: str) -> tuple[Any, ...]:
    """Raises UsageError, or what inputs(seed) and the making of arrays raise."""
    if inputs is not None:
        made = inputs(SEED)
        return tuple(made) if type(made) in (tuple, list) else (made,)
    if words is None:
        words = [_MADE] * _required(fn)
    return tuple(_value(word, family, SEED + place) for place, word in enumerate(words))


def _value(word: str, family: str, seed: int) -> Any:
    array = _ARRAY.fullmatch(word)
    if array is not None:
        shape = [int(size) for size in array[1].split("x")]
        return made_inputs(shape, array[2], 1, family)(seed)[0]
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise UsageError(f"--args {word}: it is neither a Python literal (3, 0.5, \"'text'\") nor an array (1024x1024:float32)") from None


def _required(fn: Callable[..., Any]) -> int:
    """How many arguments the function needs."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if named:
        raise UsageError(f"{os.path.basename(getattr(fn, '__name__', 'the function'))} needs {', '.join(named)} by name, which the command line cannot give: bench a function that calls it")
    return sum(p.kind in positional and p.default is p.empty for p in parameters)
