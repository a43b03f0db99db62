"""Sketches of results: a few numbers per result that show whether two results agree, at a hundredth of their size.

Floating-point values are cut into runs of 1024, and each run is projected onto two vectors of random signs. The projection
of a difference has its length as standard deviation, whatever the difference is, so that a wrong result is missed only by
coincidence: the signs come from a key that is drawn after the calls. Everything else (structure,
integers, text, the places of NaN and infinities) goes into a keyed digest. A sketch never condemns: a result that does not
agree is compared in full.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from typing import Any, NamedTuple

from .accuracy import Tolerance, epsilon_of
from .compare import Result, array_of

__all__ = ["Sketch", "disagreement", "sketch_of"]

_RUN, _SIGNS = 1024, 2
_PIECE = 256 * _RUN  # values converted at a time
_BEYOND = 1.5  # standard deviations of a difference at the tolerance; honest differences are a tenth of it


class Sketch(NamedTuple):
    digest: str
    values: Any  # float64, two per run
    norms: Any  # length of each run
    limits: Any  # the length of a difference within tolerance, per run
    rounding: float  # one unit in the last place, of the shortest type


def sketch_of(result: Result, key: str, tolerance: Tolerance) -> Sketch:
    """Return the sketch of a result for a key in hexadecimal. Without NumPy all values are in the digest."""
    numpy: Any = sys.modules.get("numpy")
    secret = bytes.fromhex(key)
    if numpy is None:
        return Sketch(hashlib.blake2b(json.dumps(result[0]).encode(), key=secret).hexdigest(), b"", b"", b"", 1.0)
    bits = numpy.frombuffer(hashlib.shake_256(secret).digest(_RUN * _SIGNS // 8), "u1")
    maker = _Maker(numpy, numpy.unpackbits(bits).reshape(_RUN, _SIGNS) * 2.0 - 1.0, secret, tolerance)
    with numpy.errstate(all="ignore"):
        maker.add(*result)
    values, norms, limits = (numpy.concatenate(each) if each else numpy.zeros(0) for each in (maker.values, maker.norms, maker.limits))
    return Sketch(maker.digest.hexdigest(), values, norms, limits, maker.rounding)


def disagreement(wanted: Sketch, digest: str, block: bytes) -> tuple[float, float]:
    """Return how far a sketch is from the baseline's: in units of the tolerance, and as a relative error of the result."""
    if digest != wanted.digest or len(block) != len(bytes(wanted.values)):
        return math.inf, math.inf
    if not block:
        return 0.0, 0.0
    numpy: Any = sys.modules["numpy"]
    values = numpy.frombuffer(block)
    with numpy.errstate(all="ignore"):
        gaps = numpy.abs(values - wanted.values).reshape(-1, _SIGNS)
        beyond = numpy.where(gaps == 0, 0.0, gaps / (_BEYOND * wanted.limits[:, None]))
        scale = math.sqrt(float(numpy.square(wanted.norms).mean()))
        relative = math.sqrt(float(numpy.square(gaps).mean())) / scale if scale else 0.0
    sound = bool(numpy.isfinite(beyond).all()) and math.isfinite(relative)
    return (float(beyond.max()), relative) if sound else (math.inf, math.inf)


class _Maker:
    def __init__(self, numpy: Any, signs: Any, secret: bytes, tolerance: Tolerance) -> None:
        self._numpy, self._signs, self._tolerance = numpy, signs, tolerance
        self.digest = hashlib.blake2b(key=secret[:64], digest_size=16)
        self.values: list[Any] = []
        self.norms: list[Any] = []
        self.limits: list[Any] = []
        self.rounding = 2.0**-52

    def add(self, tree: dict[str, Any], blocks: list[bytes]) -> None:
        kind = tree["is"]
        floating = kind == "float" or (kind == "array" and str(tree["format"])[1:2] in ("f", "c"))
        plain = {name: value for name, value in tree.items() if name not in ("of", "block") and not (floating and name == "value")}
        self.digest.update(json.dumps([plain, len(tree.get("of", []))]).encode())
        if kind == "float":
            self._project(self._numpy.array([float(tree["value"])]), "float32")
        elif floating and (found := array_of(self._numpy, (tree, blocks))) is not None:
            flat = found.reshape(-1)
            self._project(flat.view("f8" if flat.dtype.itemsize == 16 else "f4") if flat.dtype.kind == "c" else flat, str(tree["dtype"]))
        elif kind == "array":
            self.digest.update(blocks[tree["block"]])
        for part in tree.get("of", []):
            self.add(part, blocks)

    def _project(self, flat: Any, dtype: str) -> None:
        numpy = self._numpy
        self.rounding = max(self.rounding, epsilon_of(dtype))
        first, total = len(self.norms), 0.0
        for begin in range(0, len(flat), _PIECE):
            piece = flat[begin:begin + _PIECE].astype("f8")
            strange = ~numpy.isfinite(piece)
            if strange.any():
                self.digest.update(begin.to_bytes(8, "big") + numpy.packbits(strange).tobytes() + numpy.nan_to_num(piece[strange], nan=0.0, posinf=1.0, neginf=-1.0).tobytes())
                piece[strange] = 0.0
            runs = numpy.concatenate([piece, numpy.zeros(-len(piece) % _RUN)]).reshape(-1, _RUN)
            self.values.append((runs @ self._signs).reshape(-1))
            self.norms.append(numpy.sqrt(numpy.einsum("ij,ij->i", runs, runs)))
            total += float(numpy.square(self.norms[-1]).sum())
        rtol, atol = self._tolerance.of(dtype, math.sqrt(total / max(len(flat), 1)))
        for norms in self.norms[first:]:
            self.limits.append(rtol * norms + atol * math.sqrt(min(_RUN, len(flat))))
