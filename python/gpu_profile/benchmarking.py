"""bench(), benchmark and bench_compare(): time one function, or compare several.

The library does the timing (docs/how-it-works/benchmarking-method.md). This module turns functions and arguments into work for it,
and finds the stream (bench_stream.py). Exceptions of the functions are raised unchanged. The value that a call returns
is dropped; freeing it is part of the measured call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from . import bench_native
from .arguments import unknown
from .bench_counts import Counts, count
from .bench_memory import MemoryUse, check_limit
from .bench_memory import memory as memory_block
from .bench_stream import Place, find_place
from .errors import Error
from .measurement import Comparison, Measurement, scaled_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BenchComparison", "Options", "bench", "bench_compare", "benchmark", "measure"]

_LOOP_NS = 20_000  # calls shorter than this are noticeably slowed by the callback from the library into Python

_DEFERRED = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


class Options(NamedTuple):
    """The options of bench(); see there."""

    timer: str = "auto"
    stream: object = None
    name: str | None = None
    cold: bool = True
    graph: bool = False
    bytes: float | str | None = None
    flops: float | str | None = None
    flops_as: str | None = None
    memory: bool = False
    max_memory_mb: float | None = None
    min_time_s: float = 0.2
    timeout_s: float = 15.0
    precision: float = 0.005
    prepare: Callable[[], object] | None = None
    min_samples: int = 20
    max_samples: int = 100_000
    min_warmup_s: float = 0.025
    max_warmup_s: float = 3.0
    stop: str = "median"
    blocking: bool = True
    keep_throttled: bool = False

    def check(self) -> None:
        for name in _NUMBERS:
            value = getattr(self, name)
            if isinstance(value, str):  # "count", or a value that count() rejects
                continue
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise Error(2, f"{name} must be a non-negative number, got {value}")

    def counts(self, arguments: object, call: _Call, place: Place) -> Counts:
        with place.inside or contextlib.nullcontext():
            return count(self.bytes, self.flops, self.flops_as, arguments, call.prepared)

    def settings(self, place: Place, counts: Counts) -> dict[str, Any]:
        """Return the options that the library declares; the others are handled in Python."""
        found = {"bytes": counts.bytes, "flops": counts.flops, "flops_as": counts.flops_as}
        return {**self._asdict(), **found, "timer": place.timer, "device": place.device, "stream": place.stream}


_COUNTED = {"bytes", "flops", "max_memory_mb"}
_NUMBERS = [name for name, default in Options._field_defaults.items() if type(default) in (int, float) or name in _COUNTED]


def bench(
    fn: Callable[..., object],
    /,
    *args: Any,
    timer: str = "auto",
    stream: object = None,
    name: str | None = None,
    cold: bool = True,
    graph: bool = False,
    bytes: float | str | None = None,
    flops: float | str | None = None,
    flops_as: str | None = None,
    memory: bool = False,
    max_memory_mb: float | None = None,
    min_time_s: float = 0.2,
    timeout_s: float = 15.0,
    precision: float = 0.005,
    prepare: Callable[[], object] | None = None,
    min_samples: int = 20,
    max_samples: int = 100_000,
    min_warmup_s: float = 0.025,
    max_warmup_s: float = 3.0,
    stop: str = "median",
    blocking: bool = True,
    keep_throttled: bool = False,
    **kwargs: Any,
) -> Measurement:
    """Time ``fn(*args, **kwargs)`` and return a Measurement. Parameters named below are not passed to ``fn``.

    ``timer``: "cuda" (device events), "host", or "auto" (default): chosen by the arguments and the result.
    ``stream``: the stream of the work; default None, the framework's current stream.
    ``cold``: overwrite the L2 cache before each sample (default True).
    ``graph``: capture the call in a CUDA graph and time its replays (default False).
    ``bytes``, ``flops``: figures of one call, for rates and their share of the device's peak; "count" determines them
    in one additional call (bench_counts.py). ``flops_as``: the arithmetic of the peak (fp64, fp64_tensor, fp32, tf32,
    fp16, bf16, fp8, fp4, int8); default None, the number format of the arrays.
    ``memory``: measure memory use in one additional call. ``max_memory_mb``: peak memory limit in MiB.
    ``prepare``: called before each call and not timed; a returned tuple replaces the positional arguments.
    ``min_time_s``, ``timeout_s``, ``min_samples``, ``max_samples``, ``precision`` (relative, of the median) and
    ``stop`` ("median", "entropy", "samples", "time") control the end of sampling; times in seconds.
    ``min_warmup_s``, ``max_warmup_s``: limits of the warm-up, in seconds, which continues until times settle.
    ``blocking=False``: include launch gaps in the times. ``keep_throttled``: keep samples taken at throttled clocks.

    Raises Error for invalid arguments, MemoryLimitError above ``max_memory_mb``, and exceptions of ``fn`` unchanged.
    """
    given = locals()
    return measure(fn, args, kwargs, Options(**{name: given[name] for name in Options._fields}))


def measure(fn: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any], options: Options) -> Measurement:
    """Run bench() with the options as one value, so that they cannot clash with the arguments of ``fn``."""
    options.check()
    call = _Call(fn, args, kwargs, options.prepare)
    place = find_place(options.timer, options.stream, options.graph, (args, kwargs), call.prepared)
    use = _memory_of(call, place) if options.memory or options.max_memory_mb is not None else None
    if use is not None:
        check_limit(use, options.max_memory_mb)
    counts = options.counts((args, kwargs), call, place)
    with place.inside or contextlib.nullcontext():
        (found,), _ = bench_native.run(options.settings(place, counts), [call.work(place, options.name or name_of(fn))])
    return _completed(found, place, use, counts)


def benchmark(fn: Callable[..., object] | None = None, /, **options: Any) -> Any:
    """Decorator: calling the function benchmarks it and returns a Measurement. ``@benchmark`` or
    ``@benchmark(cold=False)``.

    ``options`` are those of bench(). The original function is ``__wrapped__`` of the decorated one.
    """
    chosen = _options(options)
    if fn is None:
        return functools.partial(_decorated, options=chosen)
    return _decorated(fn, chosen)


def bench_compare(
    functions: Mapping[str, Callable[..., object]] | Sequence[Callable[..., object]],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> BenchComparison:
    """Time functions against the first one, with alternating samples and the same arguments, and return a
    BenchComparison.

    ``functions``: a mapping of names to functions, or a sequence of functions with distinct names. ``options``: those
    of bench() except ``name``. Raises Error for fewer than two functions, and exceptions of the functions unchanged.
    """
    named_functions = _by_name(functions)
    if len(named_functions) < 2:
        raise Error(2, f"bench_compare needs at least two functions, got {len(named_functions)}")
    chosen = _options(options)
    if chosen.name is not None:
        raise Error(2, "bench_compare does not accept 'name'; the keys of the mapping name the functions")
    (first, baseline), *others = named_functions.items()
    positional, named = tuple(args), dict(kwargs or {})
    sides = {name: _Call(fn, positional, named, chosen.prepare) for name, fn in named_functions.items()}
    place = find_place(chosen.timer, chosen.stream, chosen.graph, (positional, named), sides[first].prepared)
    uses: dict[str, MemoryUse] = {}
    if chosen.memory or chosen.max_memory_mb is not None:
        for name, call in sides.items():
            uses[name] = _memory_of(call, place)
            check_limit(uses[name], chosen.max_memory_mb)
    counts = chosen.counts((positional, named), sides[first], place)  # of the first function, for all
    measurements: dict[str, Measurement] = {}
    comparisons: dict[str, Comparison] = {}
    for name, _ in others:
        works = [sides[side].work(place, side) for side in (first, name)]
        with place.inside or contextlib.nullcontext():
            pair, comparison = bench_native.run(chosen.settings(place, counts), works)
        measurements.setdefault(first, _completed(pair[0], place, uses.get(first), counts))
        measurements[name] = _completed(pair[1], place, uses.get(name), counts)
        if comparison is not None:
            comparisons[name] = comparison
    return BenchComparison(first, measurements, comparisons)


def _by_name(functions: Mapping[str, Callable[..., object]] | Sequence[Callable[..., object]]) -> dict[str, Callable[..., object]]:
    if hasattr(functions, "items"):
        return dict(functions.items())
    named: dict[str, Callable[..., object]] = {}
    for fn in functions:
        name = getattr(fn, "__name__", None) if callable(fn) else None
        if name is None:
            raise Error(2, f"bench_compare cannot find a name for {fn!r}; pass a dictionary such as {{'name': function}}")
        if name in named:
            raise Error(2, f"bench_compare got two functions named '{name}'; pass a dictionary such as {{'name': function}}")
        named[name] = fn
    return named


@dataclasses.dataclass(frozen=True, eq=False)
class BenchComparison:
    """Measurements by name, and the comparison of each with the baseline. The baseline's measurement is that of the
    first pair."""

    baseline: str
    measurements: dict[str, Measurement]
    comparisons: dict[str, Comparison]

    def __getitem__(self, name: str) -> Measurement:
        return self.measurements[name]

    @property
    def fastest(self) -> str:
        """The name of the function with the highest speedup; the baseline if no other is ``faster``."""
        faster = {name: one.speedup or 0 for name, one in self.comparisons.items() if one.verdict == "faster"}
        return max(faster, key=lambda name: faster[name]) if faster else self.baseline

    def to_dict(self, samples: bool = False) -> dict[str, Any]:
        return {
            "baseline": self.baseline,
            "measurements": {name: one.to_dict(samples) for name, one in self.measurements.items()},
            "comparisons": {name: one.to_dict() for name, one in self.comparisons.items()},
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per function: name, median_ns, speedup, low, high, verdict."""
        return [self._row(name, one) for name, one in self.measurements.items()]

    def to_pandas(self) -> Any:
        from .summary import data_frame

        return data_frame(self.rows())

    def __str__(self) -> str:
        lines = [f"timer: {self.measurements[self.baseline].timer}"]
        width = max(map(len, self.measurements))
        for row in self.rows():
            median = "no samples" if row["median_ns"] is None else scaled_ns(row["median_ns"])
            compared = self.comparisons.get(row["name"])
            if row["name"] == self.baseline:
                said = "baseline"
            else:
                said = "not compared" if compared is None else str(compared).split(": ", 1)[1]
            lines.append(f"  {row['name']:{width}}  {median:>10}  {said}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from . import html

        rows = self.rows()
        return html.table(list(rows[0]), [list(row.values()) for row in rows])

    def _row(self, name: str, one: Measurement) -> dict[str, Any]:
        compared = self.comparisons.get(name)
        interval = None if compared is None else compared.interval
        verdict = None if compared is None else compared.verdict
        return {
            "name": name,
            "median_ns": one.median_ns,
            "speedup": None if compared is None else compared.speedup,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "verdict": "baseline" if name == self.baseline else verdict,
        }


class _Call:
    """A function with its arguments, which ``prepare`` can replace before each call."""

    def __init__(self, fn: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any],
                 prepare: Callable[[], object] | None) -> None:
        code = getattr(fn, "__code__", None)
        if code is not None and code.co_flags & _DEFERRED:
            raise Error(2, f"cannot benchmark {name_of(fn)}: calling it only creates a coroutine or generator; benchmark a function that runs it")
        self._fn = fn
        self._args = args
        self._kwargs = kwargs
        self._prepare = prepare

    def prepared(self) -> object:
        if self._prepare is not None:
            self._renew()
        return self._fn(*self._args, **self._kwargs)

    def ready(self) -> object:
        result = self._fn(*self._args, **self._kwargs)
        wait_until_ready(result)
        return result

    def work(self, place: Place, name: str) -> bench_native.Work:
        if place.waits:
            call: Callable[[], object] = self.ready
        elif self._prepare is not None:
            call = self._plain
        else:  # avoids one call inside the timed region
            call = functools.partial(self._fn, *self._args, **self._kwargs)
        return bench_native.Work(call, name, None if self._prepare is None else self._renew)

    def _plain(self) -> object:
        return self._fn(*self._args, **self._kwargs)

    def _renew(self) -> None:
        made = self._prepare() if self._prepare is not None else None
        if isinstance(made, tuple):
            self._args = made
        elif made is not None:
            raise Error(2, f"prepare returned {type(made).__name__}; expected None or a tuple of arguments")


def wait_until_ready(result: object) -> None:
    """Wait for JAX arrays, including those in lists, tuples and dictionaries."""
    wait = getattr(result, "block_until_ready", None)
    if wait is not None:
        wait()
    elif isinstance(result, dict):
        for one in result.values():
            wait_until_ready(one)
    elif isinstance(result, (list, tuple)):
        for one in result:
            wait_until_ready(one)


def name_of(fn: Callable[..., object]) -> str:
    """Return a display name for a function."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__qualname__", None) or type(fn).__name__


# The first call makes lasting allocations, so the second one is counted. Its result is part of the peak and freed
# before the end.
def _memory_of(call: _Call, place: Place) -> MemoryUse:
    with place.inside or contextlib.nullcontext():
        first = call.prepared()
        wait_until_ready(first)
        del first
        with memory_block() as block:
            result = call.prepared()
            wait_until_ready(result)
            del result
    return block.use


def _completed(found: Measurement, place: Place, use: MemoryUse | None, counts: Counts) -> Measurement:
    notes = [*place.notes, *counts.notes]
    median = found.median_ns
    if found.timer == "host" and median is not None and median < _LOOP_NS:
        notes.append("the time includes the callback into Python; compare with an empty function, or loop inside the function")
    if found.device is not None and median and found.host_ns and median < 3000 and found.host_ns > 20 * median:
        notes.append("the device was almost idle while the host was busy; the work may be on another stream or on the CPU")
    return dataclasses.replace(found, memory=use, bytes_from=counts.bytes_from, flops_from=counts.flops_from, flops_as=counts.flops_as,
                               notes=(*notes, *found.notes))


def _decorated(fn: Callable[..., object], options: Options) -> Callable[..., Measurement]:
    @functools.wraps(fn)
    def benched(*args: Any, **kwargs: Any) -> Measurement:
        return measure(fn, args, kwargs, options)

    benched.bench_options = options  # type: ignore[attr-defined]  # the command `bench` finds decorated functions by this attribute
    return benched


def _options(given: dict[str, Any]) -> Options:
    for name in sorted(given.keys() - set(Options._fields)):
        raise Error(2, unknown("option", name, Options._fields))
    options = Options(**given)
    options.check()
    return options
