"""The rules of evaluation/accuracy.py, precision.py and sketch.py on arrays drawn here: what is beyond tolerance, by type and
scale, and what float64 decides. No process. The functions of tests/evaluate give honest and imprecise ways to compute."""

import secrets

import numpy
import pytest

from gpu_profile.evaluation.accuracy import Tolerance
from gpu_profile.evaluation.arrays import Arrays
from gpu_profile.evaluation.compare import compare
from gpu_profile.evaluation.precision import MAX_ERROR_RATIO, Errors
from gpu_profile.evaluation.sketch import disagreement, sketch_of
from evaluate.functions import draw
from evaluate.precision_trials import rejected

DRAWN = numpy.random.default_rng(7).standard_normal((64, 256))


def described(value):
    blocks = []
    return Arrays().describe(value, blocks), blocks


def compared(one, other, exact=None, tolerance=Tolerance()):
    return compare(described(one), described(other), None if exact is None else described(exact), tolerance)


@pytest.mark.parametrize("scale", [1e-12, 1e-7, 1.0, 1e6])
@pytest.mark.parametrize(("dtype", "near", "far"), [("f4", 3e-4, 3e-3), ("f2", 3e-3, 3e-2), ("f8", 3e-9, 3e-7)])
def test_tolerance_follows_scale_and_type(scale, dtype, near, far):
    scale = max(scale, 1e-2) if dtype == "f2" else scale
    scale = min(scale, 1e2) if dtype == "f2" else scale
    right = (DRAWN * scale).astype(dtype)
    assert compared(right, (right * (1 + near)).astype(dtype))["beyond"] == 0
    assert compared(right, (right * (1 + far)).astype(dtype))["beyond"] > 0


def test_elements_near_zero_have_the_scale_of_their_row():
    right = (DRAWN * numpy.where(numpy.arange(64) % 2, 1e-6, 1.0)[:, None]).astype("f4")
    assert compared(right, right + numpy.float32(2e-5) * (numpy.arange(64) % 2 == 0)[:, None])["beyond"] == 0
    assert compared(right, right + numpy.float32(2e-5))["beyond"] > 0, "half of the rows are small"


def test_integers_are_equal_unless_a_tolerance_is_given():
    right = numpy.arange(1_000_000, 1_000_100)
    assert compared(right, right + 1)["beyond"] == 1
    assert compared(right, right + 1, tolerance=Tolerance(atol=1.0))["beyond"] == 0


@pytest.mark.parametrize(("wanted", "got", "said"), [
    (DRAWN, DRAWN * 0, "outputs are constant (0) where"),
    (DRAWN, numpy.full_like(DRAWN, 3), "outputs are constant (3) where"),
    (DRAWN > 0, DRAWN > 9, "outputs are constant (0) where"),
    (DRAWN * 0 + 2, DRAWN * 0, None),
    (numpy.float32([1, 1 + 1e-7, 1 - 1e-7]), numpy.float32([1, 1, 1]), None),  # sums of a softmax
    (numpy.float32([3]), numpy.float32([0]), None),
])
def test_constants_where_the_baseline_varies(wanted, got, said):
    found = compared(wanted, got)["constant"]
    assert (found or "").startswith(said) if said else found is None


def test_zero_is_better_than_noise_around_zero():
    """x - x in another order: the outputs of the baseline are rounding, and float64 knows."""
    noise = (DRAWN * 1e-9).astype("f4")
    found = compared(noise, noise * 0, DRAWN * 1e-18)
    assert (found["constant"], found["beyond"]) == (None, 0)


def test_a_longer_type_inside_is_no_reference():
    one = DRAWN.astype("f4")
    assert compared(one, one, one)["errors"] == []
    assert len(compared(one, one, DRAWN)["errors"]) == 1


def test_few_elements_need_a_larger_ratio():
    def beyond(size, ratio):
        errors = Errors()
        errors.add(0, {"errors": [[(ratio * 1e-6) ** 2, 1e-12, size, 2.0**-23]]})
        return errors.beyond(MAX_ERROR_RATIO) is not None

    assert beyond(100, 12) and not beyond(100, 8)
    assert beyond(3, 22) and not beyond(3, 18)
    assert beyond(1, 120) and not beyond(1, 80)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_functions(seed):
    drawn = draw(seed)
    for way in drawn.honest.values():
        assert not rejected(drawn.baseline, way, drawn.inputs, seed)[0]
    for way in drawn.imprecise.values():
        assert rejected(drawn.baseline, way, drawn.inputs, seed)[0]


WRONG = [
    lambda x: x * 0, lambda x: x[::-1], lambda x: x * 1.02, lambda x: numpy.vstack([x[:-1], x[:1]]),
    lambda x: numpy.where(numpy.arange(x.size).reshape(x.shape) == 777, 1.0, x), lambda x: numpy.where(x > 3, numpy.nan, x),
]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_sketches(dtype):
    """A reordered sum agrees, a wrong element among 16,384 does not; without the key nothing can be prepared."""
    right = DRAWN.astype(dtype)
    key = dtype.encode().hex().ljust(64, "0")  # with one that is drawn, two sums of float16 miss a wrong row once in 13,000 runs
    own = sketch_of(described({"out": right, "n": 3}), key, Tolerance())

    def found(value):
        other = sketch_of(described({"out": value.astype(dtype), "n": 3}), key, Tolerance())
        return disagreement(own, other.digest, bytes(other.values))

    assert found(right) == (0, 0)
    assert found(right * (1 + numpy.finfo(dtype).eps))[0] < 1
    for change in WRONG:
        assert found(change(right))[0] > 1
    assert len(bytes(own.values)) <= right.nbytes / 16


@pytest.mark.parametrize(("one", "other"), [(3, 4), ("a", "b"), (1.0, 1.1), ([1.0], (1.0,)), (numpy.arange(9), numpy.arange(9) + 1)])
def test_sketches_of_other_values(one, other):
    key = secrets.token_hex(32)
    own, same, changed = (sketch_of(described(value), key, Tolerance()) for value in (one, one, other))
    assert disagreement(own, same.digest, bytes(same.values)) == (0, 0)
    assert disagreement(own, changed.digest, bytes(changed.values))[0] > 1
