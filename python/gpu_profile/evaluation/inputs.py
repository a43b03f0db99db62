"""The arguments of a call: from inputs(seed) of INPUTS.py, or generated here.

Without INPUTS.py every argument is a matrix of standard normal numbers (integers: -8 to 7), one per parameter of the
baseline's function. Each combination of --shape and --dtype is a case. NumPy generates the arrays from the seed, so
that both sides get the same values; they are converted to the framework that the baseline imports: PyTorch, CuPy,
otherwise NumPy.
"""

from __future__ import annotations

import ast
import importlib
import sys
from typing import Any, Callable

__all__ = ["imports_of", "made_inputs"]

_FRAMEWORKS = ("numpy", "torch", "cupy", "jax", "numba", "triton")


def imports_of(path: str) -> list[str]:
    """Return the frameworks that a file imports; none if it is unreadable, which importing it will report."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return [name for name in _FRAMEWORKS if name in names]


def made_inputs(shape: list[int], dtype: str, count: int, family: str) -> Callable[[int], tuple[Any, ...]]:
    """Return inputs(seed) for one case. Raises ImportError or ValueError with a one-line message."""
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as problem:
        raise ImportError("cannot generate inputs: NumPy is not installed; install it, or use --inputs") from problem
    generator = numpy.random.default_rng
    exact, hand_over = _receiver(numpy, dtype, family)

    def one(random: Any) -> Any:
        if exact.kind in "iub":
            return hand_over(random.integers(-8 if exact.kind == "i" else 0, 8, shape).astype(exact))
        if exact.kind == "c":
            return hand_over((random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(exact))
        drawn_as = exact if exact.itemsize in (4, 8) else numpy.dtype("float32")
        return hand_over(random.standard_normal(shape, drawn_as).astype(exact, copy=False))

    def inputs(seed: int) -> tuple[Any, ...]:
        random = generator(seed)
        return tuple(one(random) for _ in range(count))

    return inputs


def _receiver(numpy: Any, dtype: str, family: str) -> tuple[Any, Callable[[Any], Any]]:
    """Return NumPy's dtype and the conversion from its array to the framework's."""
    torch: Any = sys.modules.get("torch") if family == "torch" else None
    short = torch is not None and dtype == "bfloat16"
    try:
        exact = numpy.dtype("float32" if short else dtype)
    except TypeError as problem:
        raise ValueError(f"unknown dtype '{dtype}': not a NumPy dtype") from problem
    if torch is not None and hasattr(torch, "from_numpy"):
        place = "cuda" if torch.cuda.is_available() else "cpu"
        wanted = torch.bfloat16 if short else None
        return exact, lambda array: torch.from_numpy(array).to(device=place, dtype=wanted)
    if family == "cupy" and "cupy" in sys.modules:
        return exact, sys.modules["cupy"].asarray
    return exact, lambda array: array
