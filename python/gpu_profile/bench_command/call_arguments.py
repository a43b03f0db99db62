"""The arguments of a benchmarked call: words of the command line, inputs(seed) of a file, or generated arrays.

A word is a Python literal (3, 0.5, None, [1, 2], 'text') or the shape of a generated array, NxM:dtype. Any other word
is rejected rather than taken as text. Arrays are generated as in evaluate (evaluation/inputs.py): standard normal
numbers, in the framework that the file imports.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from typing import Any, Callable

from ..evaluation.inputs import imports_of, made_inputs
from .bench_options import UsageError

__all__ = ["SEED", "arguments_of", "family_of"]

SEED = 0  # identical arguments in every run make runs comparable
_ARRAY = re.compile(r"([1-9]\d*(?:x[1-9]\d*)*):([A-Za-z]\w*)")
_MADE = "1024x1024:float32"


def family_of(path: str) -> str:
    """The framework of generated arrays."""
    imported = imports_of(path)
    return next((name for name in ("torch", "cupy") if name in imported), "numpy")


def arguments_of(fn: Callable[..., Any], words: list[str] | None, inputs: Callable[[int], Any] | None, family: str) -> tuple[Any, ...]:
    """Return the arguments. Raises UsageError, and the errors of inputs(seed) and of array generation."""
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
        raise UsageError(f"invalid --args '{word}': expected a Python literal (3, 0.5, \"'text'\") or an array (1024x1024:float32)") from None


def _required(fn: Callable[..., Any]) -> int:
    """Return the number of required positional arguments."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if named:
        raise UsageError(f"cannot benchmark {os.path.basename(getattr(fn, '__name__', 'the function'))}: the command line cannot pass its keyword-only arguments ({', '.join(named)}); benchmark a wrapper that calls it")
    return sum(p.kind in positional and p.default is p.empty for p in parameters)
