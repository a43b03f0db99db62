"""The process of one side: imports the module, generates inputs, calls the function, and describes the result.

Started by side.py with the number of a socket. The first message is the setup, with the token. The socket is moved to
another number and no state is global, so that a module has no accidental access; a module that searches the
interpreter's frames is not kept out (docs/reference/commands/evaluate.md, "What this cannot see"). Order in load(): frameworks
and the evaluator's clocks first, then INPUTS.py, then the module under test.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import inspect
import os
import random
import signal
import socket
import sys
import time
from typing import Any, Callable

from ..bench_memory import framework_counters
from ..user_file import load, said, user_frames
from .accuracy import Tolerance
from .arrays import Arrays
from .clock import keep_freed_memory, make_clock, make_perturb
from .compare import compare
from .device import waiter
from .inputs import imports_of, made_inputs
from .sketch import Sketch, disagreement, sketch_of
from .stopwatch import Stopwatch
from .patch_detector import PatchDetector
from .wire import receive, send

_POISON = 0x7F
_SETTLE_S = (0.03, 0.5)  # minimum and maximum time for detecting late changes of a result

Blocks = list[bytes]
Tree = dict[str, Any]


class Worker:
    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        keep_freed_memory()
        for name in {*imports_of(setup["module"]), *imports_of(setup["inputs"] or ""), *setup["frameworks"]}:
            with contextlib.suppress(Exception):  # the module's own import reports it better
                importlib.import_module(name)
        self._clock, self._perturb, self._sleep = make_clock(), make_perturb(), time.sleep
        self._clean = gc.collect, gc.disable, gc.enable
        self._shuffle = random.SystemRandom().shuffle
        self._arrays, self._wait, self._memory = Arrays(), waiter(), framework_counters()
        self._patch_detector, self._stopwatch = PatchDetector(), Stopwatch(self._arrays)
        self._inputs: list[Callable[[int], Any]] = []
        self._kernel: Callable[..., Any] = print
        self._batch: list[Any] = []
        self._prepared: list[Any] = []
        self._kept: list[Any] = []
        self.after: Callable[[], None] | None = None  # runs after the answer has been sent
        self._early: dict[int, tuple[Tree, Blocks]] = {}  # results of the last time(), as they were at its end
        self._expected: dict[tuple[int, int], tuple[Tree, Blocks]] = {}

    # ---- loading

    def inputs(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Load INPUTS.py before the module; generated inputs come later, when the number of parameters is known."""
        if self._setup["inputs"]:
            found = getattr(load(self._setup["inputs"]), "inputs", None)
            if not callable(found):
                raise LookupError(f"no function inputs(seed) in '{os.path.basename(self._setup['inputs'])}'")
            self._inputs = [found]
        return {}, []

    def load(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        entry, path = self._setup["entry"], self._setup["module"]
        begun = self._clock()
        module = load(path)
        took = self._clock() - begun
        kernel = getattr(module, entry, None)
        if not callable(kernel):
            there = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
            hint = f"; found {', '.join(there[:5])}; select one with --entry" if there else ""
            raise LookupError(f"no function '{entry}' in {os.path.basename(path)}{hint}")
        self._kernel = kernel
        return {"import_ns": took, "parameters": _parameters(kernel)}, []

    def cases(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        if not self._inputs:
            self._inputs = [
                made_inputs(shape, dtype, message["parameters"], message["family"])
                for dtype in message["dtypes"] for shape in message["shapes"]
            ]
        return {"cases": len(self._inputs)}, []

    def _make(self, case: int, seed: int) -> Any:
        made = self._inputs[case](seed)
        return tuple(made) if type(made) in (tuple, list) else (made,)

    # ---- correctness

    def check(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Call with a new seed, the same seed, another one, and with the same objects after exchanging their
        contents."""
        case, seed, other = message["case"], message["seed"], message["other"]
        arguments = self._make(case, seed)
        before = self._described(arguments)
        output, took = self._poisoned(arguments)
        result = arguments if output is None else output
        first = self._described(result)
        self._sleep(min(max(_SETTLE_S[0], 2e-9 * took), _SETTLE_S[1]))
        self._wait(result)
        second = self._described(result)
        answer: Tree = {"ns": took, "output": second[0], "late": first != second, "nothing": output is None}
        answer["changed"] = self._described(arguments) != before
        answer["aliased"] = output is not None and self._overlap(output, arguments)
        answer["bytes"] = self._arrays.size(arguments) + (0 if output is None else self._arrays.size(output))
        again = self._called(self._make(case, seed))
        answer["again"] = again[0]
        del arguments
        self._called(self._make(case, other))
        answer["overwritten"] = self._described(result) != second
        exchanged = self._exchanged(case, seed, other)
        blocks = [*second[1], *again[1]]
        answer["counts"] = [len(second[1]), len(again[1])]
        if exchanged:
            answer["exchanged"] = exchanged[0]
            blocks += exchanged[1]
        self._expected = {(case, seed): second}
        return answer, blocks

    def _poisoned(self, arguments: Any) -> tuple[Any, int]:
        """Call with new memory filled with a pattern, which remains where the function does not write."""
        for leaf in [each for batch in self._batch for each in self._arrays.leaves(batch)]:
            family = self._arrays.family(leaf)
            with contextlib.suppress(Exception):
                if family and family.empty_like:
                    family.empty_like(leaf).view(sys.modules[family.name].uint8)[...] = _POISON
        self._batch = []
        self._perturb(_POISON)
        try:
            begun = self._clock()
            output = self._kernel(*arguments)
            self._wait(output)
            took = self._clock() - begun
        finally:
            self._perturb(0)
        self._batch = [output]
        return output, took

    def _called(self, arguments: Any) -> tuple[Tree, Blocks]:
        output = self._kernel(*arguments)
        self._wait(output)
        return self._described(arguments if output is None else output)

    def _exchanged(self, case: int, seed: int, other: int) -> tuple[Tree, Blocks] | None:
        """Return the result for `other` using the objects of `seed`; None for read-only arrays."""
        arguments, source = self._make(case, seed), self._make(case, other)
        self._called(arguments)
        try:
            for target, values in zip(self._arrays.leaves(arguments), self._arrays.leaves(source)):
                target[...] = values
        except Exception:
            return None
        if self._described(arguments) != self._described(source):
            return None
        return self._called(arguments)

    def _described(self, value: Any) -> tuple[Tree, Blocks]:
        blocks: Blocks = []
        return self._arrays.describe(value, blocks), blocks

    def _overlap(self, output: Any, arguments: Any) -> bool:
        return self._arrays.overlap(self._arrays.leaves(output), self._arrays.leaves(arguments))

    # ---- comparing, in the baseline's process

    def compare(self, message: dict[str, Any], blocks: Blocks) -> tuple[Tree, Blocks]:
        case, seed = message["case"], message["seed"]
        if (case, seed) not in self._expected:
            self._expected = {(case, seed): self._called(self._make(case, seed))}
        wanted, got = self._expected[case, seed], (message["output"], blocks)
        tolerance = Tolerance(message["rtol"], message["atol"])
        found = compare(wanted, got, None, tolerance)
        if found["beyond"] or message["reference"]:
            found = compare(wanted, got, self._reference(case, seed), tolerance)
        return found, []

    def agree(self, message: dict[str, Any], blocks: Blocks) -> tuple[Tree, Blocks]:
        """Compare sketches of the optimized side's results with those of the same calls here: how far each is beyond
        the tolerance, and its relative error."""
        own = self._sketches(message)
        found = [disagreement(each, digest, block) for each, digest, block in zip(own, message["digests"], blocks)]
        return {"beyond": [one for one, _ in found], "relative": [other for _, other in found], "rounding": max(each.rounding for each in own)}, []

    def _sketches(self, message: dict[str, Any]) -> list[Sketch]:
        tolerance = Tolerance(message["rtol"], message["atol"])
        return [sketch_of(self._early[index], message["key"], tolerance) for index in message["of"]]

    def _reference(self, case: int, seed: int) -> tuple[Tree, Blocks] | None:
        """Return the baseline's result for the same inputs in float64, if it accepts them."""
        try:
            wide = tuple(_widened(self._arrays, argument) for argument in self._make(case, seed))
            if all(now is then for now, then in zip(wide, self._make(case, seed))):
                return None
            return self._called(wide)
        except Exception:
            return None

    # ---- timing

    def prepare(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Generate fresh inputs for the calls of the next time(), one for each [case, seed]."""
        self._batch = []
        self._prepared = [self._make(case, seed) for case, seed in message["calls"]]
        return {}, []

    def collect(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Free the remains of earlier samples, so that freeing them is not part of any measured time."""
        self._batch, self._early, self._kept = [], {}, []
        self._clean[0]()
        return {}, []

    def time(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Run the prepared calls. Answers immediately; the evaluator also reads its own clock."""
        prepared = self._kept = self._prepared
        outputs: list[Any] = []
        kernel, clock, wait, keep, watch = self._kernel, self._clock, self._wait, outputs.append, self._stopwatch
        watch.find(prepared)
        self._clean[1]()
        try:
            wait(None)
            watch.start(message["hold"])
            begun = clock()
            for arguments in prepared:
                keep(kernel(*arguments))
            watch.stop()
            lap = watch.read()
            wait(outputs)
            took = clock() - begun
        except BaseException:
            self._clean[2]()
            raise
        self._batch = [made if output is None else output for made, output in zip(prepared, outputs)]
        self._prepared = []
        self.after = self._copy_early if message["keep"] else self._clean[2]
        return {"ns": took, **lap}, []

    def _copy_early(self) -> None:
        """Copy the results as they are at the end of the timing: the last one first, which had the least time to finish,
        the others in random order. Until then nothing runs that the module could attach work to: no collection of
        garbage, and no input is freed."""
        try:
            *others, last = range(len(self._batch))
            self._shuffle(others)
            self._early = {index: self._described(self._batch[index]) for index in (last, *others)}
        finally:
            self._clean[2]()

    def settle(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Answer once the results are copied, so that copying is not part of the other side's time."""
        return {}, []

    def sketch(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Return a sketch of each result of the last time(); `late` if one changed after the timing."""
        late = any(self._described(self._batch[index]) != early for index, early in self._early.items())
        unknown = any(_holds_unknown(tree) for tree, _ in self._early.values())
        found = [] if unknown else self._sketches(message)
        return {"late": late, "digests": [each.digest for each in found]}, [bytes(each.values) for each in found]

    def output(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Return a result of the last time(), as it was at its end, or that of call()."""
        index = message["index"]
        tree, blocks = self._early[index] if index in self._early else self._described(self._batch[index])
        return {"output": tree}, blocks

    def copy(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Return the shortest times for copying this side's inputs, and their bytes: read once and written once."""
        leaves = self._arrays.leaves(self._make(message["case"], message["seed"]))
        families = [self._arrays.family(leaf) for leaf in leaves]
        times: list[int] = []
        laps: list[float] = []
        if not leaves or any(family is None or family.empty_like is None for family in families):
            return {"ns": None, "bytes": 0}, []
        targets = [family.empty_like(leaf) for family, leaf in zip(families, leaves) if family and family.empty_like]
        self._stopwatch.find(leaves)
        for _turn in range(7):
            self._stopwatch.start(False)
            begun = self._clock()
            for target, leaf in zip(targets, leaves):
                target[...] = leaf
            self._stopwatch.stop()
            laps.append(self._stopwatch.read().get("device_ns", 0.0))
            self._wait(None)
            times.append(self._clock() - begun)
        return {"ns": min(times), "device_ns": min(laps), "bytes": 2 * sum(self._arrays.size(leaf) for leaf in leaves)}, []

    def call(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        """Measure the memory of a single call: from the framework, if one with a device is loaded."""
        self._batch, self._early, self._kept = [], {}, []
        self._expected.clear()
        self._clean[0]()
        arguments = self._make(message["case"], message["seed"])
        if self._memory:
            self._memory.begin()
        output = self._kernel(*arguments)
        self._wait(output)
        self._batch = [arguments if output is None else output]
        if not self._memory:
            return {"source": None, "peak": None}, []
        counts = self._memory.counts()
        self._memory.end()
        return {"source": self._memory.name, "peak": counts.peak_allocated, "current": counts.allocated, "reserved": counts.peak_reserved}, []

    def memory(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        return {"source": self._memory.name if self._memory else None}, []

    def replaced(self, message: dict[str, Any], _: Blocks) -> tuple[Tree, Blocks]:
        return {"names": self._patch_detector.replaced(), "hooks": self._patch_detector.installed()}, []


def _parameters(kernel: Callable[..., Any]) -> int:
    """Return the number of required arguments; 1 if unknown."""
    try:
        parameters = inspect.signature(kernel).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters) or 1


def _widened(arrays: Arrays, value: Any) -> Any:
    family = arrays.family(value)
    if family is None or not family.dtype(value).startswith(("float16", "float32", "bfloat16")):
        return value
    return value.double() if family.name == "torch" else value.astype("float64")


def _holds_unknown(tree: Tree) -> bool:
    return bool(tree["is"] == "unknown" or any(map(_holds_unknown, tree.get("of", []))))


def _said(problem: BaseException) -> dict[str, Any]:
    plain = isinstance(problem, LookupError) and not user_frames(problem)
    out = isinstance(problem, MemoryError) or "OutOfMemory" in type(problem).__name__
    return {"error": " ".join(str(problem).split())[:300] if plain else said(problem), "out_of_memory": out}


def _serve(link: socket.socket) -> None:
    setup, _ = receive(link, "")
    token = setup["key"]
    answer: Tree
    blocks: Blocks
    worker = Worker(setup)
    while True:
        try:
            message, given = receive(link, token)
        except EOFError:
            return
        try:
            answer, blocks = getattr(worker, message["do"])(message, given)
        except BaseException as problem:  # includes SystemExit, so that the module under test cannot end the worker
            answer, blocks = _said(problem), []
            del problem
        send(link, token, {**answer, "id": message["id"]}, blocks)
        then, worker.after = worker.after, None
        if then:
            then()


def main() -> None:
    given = int(sys.argv[1])
    hidden = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, random.SystemRandom().randrange(64, 512))
    os.close(given)
    sys.argv[:] = [sys.argv[0]]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the evaluator ends its workers
    _serve(socket.socket(fileno=hidden))
    os._exit(0)  # threads of the module must not keep the process alive


if __name__ == "__main__":
    main()
