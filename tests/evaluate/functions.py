"""Functions with several ways to compute them: honest ones, which reorder and fuse, and imprecise ones, which round.

Each is NumPy source of `kernel(x)`, so that it can be evaluated in this process or written to a file. `draw` gives a
function, its inputs and the variants; `scale` moves the outputs through ten orders of magnitude.
"""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = ["Drawn", "draw"]


class Way(NamedTuple):
    baseline: str
    honest: tuple[str, ...]


_SHORT = "x = x.astype(numpy.float16).astype(x.dtype)\n"
WAYS = {
    "map": Way("return numpy.tanh(x) * numpy.exp(-x * x) * S", (
        "return numpy.exp(-(x * x)) * (numpy.tanh(x) * S)",
        "e = numpy.exp(-2 * numpy.abs(x))\nreturn numpy.sign(x) * (1 - e) / (1 + e) * numpy.exp(-x * x) * S",
    )),
    "sum": Way("return (x * S).sum(axis=1)", (
        "return x.sum(axis=1) * x.dtype.type(S)",
        "return numpy.add.reduceat(x * S, numpy.arange(0, x.shape[1], 17), axis=1).sum(axis=1)",
        "return numpy.einsum('ij->i', x) * S",
        "return (x.reshape(x.shape[0], 8, -1).sum(axis=2) * S).sum(axis=1)",
    )),
    "product": Way("return (x @ x.T) * S", (
        "return numpy.einsum('ik,jk->ij', x, x) * S",
        "h = x.shape[1] // 2\nreturn (x[:, :h] @ x[:, :h].T + x[:, h:] @ x[:, h:].T) * S",
        "out = numpy.zeros((x.shape[0], x.shape[0]), x.dtype)\nfor k in range(0, x.shape[1], 16):\n    out += x[:, k:k + 16] @ x[:, k:k + 16].T\nreturn out * S",
    )),
    "softmax": Way("e = numpy.exp(x - x.max(axis=1, keepdims=True))\nreturn e / e.sum(axis=1, keepdims=True) * S", (
        "e = numpy.exp(x)\nreturn e * (S / e.sum(axis=1, keepdims=True))",
        "m = x.max(axis=1, keepdims=True)\nreturn numpy.exp(x - (m + numpy.log(numpy.exp(x - m).sum(axis=1, keepdims=True)))) * S",
    )),
    "norm": Way("m = x.mean(axis=1, keepdims=True)\nreturn (x - m) / numpy.sqrt(((x - m) ** 2).mean(axis=1, keepdims=True) + 1e-5) * S", (
        "m = x.mean(axis=1, keepdims=True)\nreturn (x - m) * (S / numpy.sqrt((x * x).mean(axis=1, keepdims=True) - m * m + 1e-5))",
        "d = x - x.sum(axis=1, keepdims=True) * x.dtype.type(1 / x.shape[1])\nreturn d / numpy.sqrt(numpy.einsum('ij,ij->i', d, d)[:, None] / x.shape[1] + 1e-5) * S",
    )),
    "gradient": Way("return 2 * (x - x[::-1]) / x.size * S", (
        "return (x - x[::-1]) * (2 * S / x.size)",
        "return (x * (2 * S / x.size)) - (x[::-1] * (2 * S / x.size))",
    )),
    "scan": Way("return numpy.cumsum(x, axis=1) * S", (
        "b = x.reshape(x.shape[0], 8, -1)\nc = numpy.cumsum(b, axis=2)\nc[:, 1:] += numpy.cumsum(c[:, :-1, -1], axis=1)[:, :, None]\nreturn c.reshape(x.shape) * S",
    )),
    "total": Way("return (x * x).mean() * S", (
        "return numpy.einsum('ij,ij', x, x) / x.size * S",
        "return (x * x).mean(axis=1).mean() * S",
    )),
}
# What the imprecise ones do to the inputs or the outputs of the baseline.
IMPRECISE = {
    "inputs in float16": (_SHORT, ""),
    "result in float16": ("", "out = (out / TOP).astype(numpy.float16).astype(x.dtype) * TOP\n"),
    "a table of 2,048 values": ("step = x.dtype.type(numpy.abs(x).max() / 1024)\nx = numpy.rint(x / step) * step\n", ""),
    "inputs in tf32": ("x = ((x.view('u4') + 0x1000) & 0xffffe000).view('f4')\n", ""),
}


class Drawn(NamedTuple):
    name: str
    baseline: str  # source of a file with kernel(x)
    honest: dict[str, str]
    imprecise: dict[str, str]
    inputs: str  # source of a file with inputs(seed)
    scale: float


def draw(seed: int) -> Drawn:
    """Draw a function, its scale and its shape from a seed."""
    dice = random.Random(seed)
    name = dice.choice(list(WAYS))
    way = WAYS[name]
    scale = 10.0 ** dice.uniform(-8, 2)
    rows, columns = dice.choice([(16, 64), (64, 256), (128, 1024), (32, 4096)])
    inputs = f"import numpy\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).standard_normal(({rows}, {columns}), numpy.float32),)\n"
    written = lambda body: _file(body, scale)  # noqa: E731
    honest = {f"way {index + 1}": written(body) for index, body in enumerate(way.honest)}
    imprecise = {kind: written(_imprecise(way.baseline, *change)) for kind, change in IMPRECISE.items()}
    if name == "total":
        del imprecise["result in float16"]  # divided by itself
    return Drawn(name, written(way.baseline), honest, imprecise, inputs, scale)


def _imprecise(body: str, before: str, after: str) -> str:
    changed = body.replace("return ", "out = ")
    return f"{before}{changed}\nTOP = numpy.abs(out).max()\n{after}return out"


def _file(body: str, scale: float) -> str:
    lines = "\n".join("    " + line for line in body.splitlines() if line)
    return f"import numpy\ndef kernel(x):\n    S = x.dtype.type({scale!r})\n{lines}\n"
