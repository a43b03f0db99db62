"""A discrete-event model of a program that uses a GPU: host threads that launch, copy, wait and allocate; in-order streams;
kernels that share multiprocessors and bandwidth; copy engines; another process that takes turns on the GPU; a recorder that costs the
host time for each record.

A host thread is a generator. It yields what it waits for, a number of ns or an Event, and continues afterwards. Results are Spans
and Ops, which also hold the truth that no recording has: the limiter of a kernel. All times are integers, in ns.
"""

import heapq
import math
from dataclasses import dataclass, field

QUEUE_DEPTH = 1020  # launches that a stream holds before the next call waits
LAUNCH_LATENCY = 1_800  # from the return of the call until work can start on an idle stream
STREAM_GAP = 1_100  # between two kernels of a stream
GRAPH_GAP = 100  # between two nodes of a graph
SYNC_RETURN = 4_000  # from the end of the work until the waiting call returns
PINNED, PAGEABLE = 55.0, 11.0  # bytes per ns
SECOND_DEVICE = 100  # streams from here on belong to device 1, 200 to device 2, ...


class Event:
    """Something that happens once."""

    def __init__(self):
        self.done_at, self.waiting = None, []

    def set(self, now):
        self.done_at = now
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()

    def when_done(self, call):
        if self.done_at is None:
            self.waiting.append(call)
        else:
            call()


@dataclass(frozen=True)
class Kernel:
    """`alone`: ns when nothing else runs. `fill`, `bandwidth`: its parts of the multiprocessors and of the memory's bandwidth."""

    name: str
    alone: int
    bound: str  # compute, memory, underfilled
    fill: float = 1.0
    bandwidth: float = 0.3
    grid: tuple = (1056, 1, 1)
    block: tuple = (256, 1, 1)
    registers: int = 64
    shared: int = 0
    collective: bool = False
    message: dict = None  # of a collective, as its record has it


@dataclass(eq=False)
class Op:
    kind: str  # kernel, memcpy, memset
    stream: int
    left: float
    kernel: Kernel = None
    engine: str = ""  # HtoD, DtoH
    bytes: int = 0
    pinned: bool = True
    correlation: int = 0
    gap: int = STREAM_GAP
    start: int = None
    end: int = None
    node: int = None  # of a graph
    needs: int = 0  # what must be over before it starts
    done: Event = field(default_factory=Event)

    @property
    def device(self):
        return self.stream // SECOND_DEVICE


@dataclass
class Span:
    table: str  # op, range, python, call, overhead
    thread: str
    start: int
    end: int
    name: str
    args: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Recorder:
    """ns that one record of each kind costs the thread that it is about; `device_op` is what a recorded op makes the next one wait."""

    device_op: int = 250
    call: int = 360
    op: int = 2_600
    python: int = 2_500


@dataclass(frozen=True)
class Turns:
    """Another process always has work for the GPU. ns that its turn takes, and ours while we have work; without work we lose the turn."""

    theirs: int
    ours: int


class Machine:
    def __init__(self, random, recorder=Recorder(), noise=0.05, kernel_factor=1.0, turns=None, pinned=PINNED):
        self.random, self.recorder, self.noise, self.kernel_factor = random, recorder, noise, kernel_factor
        self.pinned = pinned  # bytes per ns of copies of pinned memory
        self.chance = type(random)(repr(random.getstate()[1][:4]))  # of what other ranks do: the same with and without a cause
        self.now, self.queue, self.number = 0, [], 0
        self.spans, self.ops = [], []
        self.last = {}  # of each stream, the op issued last
        self.depth = {}
        self.running, self.advanced, self.round = [], 0, 0
        self.engines = {}
        self.correlation = 0
        self.pauses = []  # (thread, start, end) off the CPU
        self.turns, self.ours, self.turn_number, self.turn_began, self.kept_out = turns, turns is None, 0, 0, []

    # Time.

    def at(self, time, call):
        self.number += 1
        heapq.heappush(self.queue, (time, self.number, call))

    def run(self):
        while self.queue:
            self.now, _, call = heapq.heappop(self.queue)
            call()

    def thread(self, name, body):
        """Runs `body(Host)`, a generator function, as a host thread; the Event of its end."""
        host, ended = Host(self, name), Event()
        steps = body(host)

        def go():
            try:
                wanted = next(steps)
            except StopIteration:
                ended.set(self.now)
                return
            if isinstance(wanted, Event):
                wanted.when_done(lambda: self.at(self.now, go))
            else:
                self.at(self.now + max(0, round(wanted)), go)

        self.at(self.now, go)
        return ended

    def vary(self, ns):
        return ns * math.exp(self.random.gauss(0, self.noise)) if self.noise else ns

    # The device.

    def submit(self, op, after=()):
        """Called when the launching call returns: it may start when it has arrived, its stream is free and `after` has happened."""
        before = self.last.get(op.stream)
        self.last[op.stream] = op
        self.depth[op.stream] = self.depth.get(op.stream, 0) + 1
        self.ops.append(op)
        if self.turns and not self.ours and sum(self.depth.values()) == 1:
            past = (self.now - self.turn_began) // self.turns.theirs + 1  # turns of the other process, with the present one
            self.at(self.turn_began + past * self.turns.theirs, self.take_turn)
        waits = [event for event in after if event is not None]
        if before is not None:
            waits.append(before.done)
        op.needs = 1 + len(waits)

        def satisfied():
            op.needs -= 1
            if op.needs == 0:
                ready = self.now
                if before is not None and before.end is not None:
                    ready = max(ready, before.end + op.gap + self.recorder.device_op)
                self.at(ready, lambda: self.enter(op))

        self.at(self.now + LAUNCH_LATENCY, satisfied)
        for event in waits:
            event.when_done(satisfied)

    def enter(self, op):
        if not self.ours:
            self.kept_out.append(op)
            return
        if op.engine:
            engine = (op.device, op.engine)
            free = self.engines.get(engine)
            if free is not None and free.done_at is None:
                free.when_done(lambda: self.at(self.now, lambda: self.enter(op)))
                return
            self.engines[engine] = op.done
        self.advance()
        op.start = self.now
        self.running.append(op)
        self.plan()

    def rates(self):
        """Kernels that together want more than a device has get in proportion; copies have engines of their own."""
        rates = {id(op): 1.0 for op in self.running}
        for device in {op.device for op in self.running}:
            kernels = [op for op in self.running if op.kernel is not None and op.device == device]
            want = max(sum(op.kernel.fill for op in kernels), sum(op.kernel.bandwidth for op in kernels), 1.0)
            rates |= {id(op): 1 / want for op in kernels}
        return rates

    def advance(self):
        passed = self.now - self.advanced
        if passed > 0 and self.ours:
            rates = self.rates()
            for op in self.running:
                op.left -= passed * rates[id(op)]
        self.advanced = self.now

    def plan(self):
        self.round += 1
        if not self.running or not self.ours:
            return
        rates, this = self.rates(), self.round
        soonest = min(max(0.0, op.left) / rates[id(op)] for op in self.running)
        self.at(self.now + max(1, math.ceil(soonest)), lambda: self.complete(this))

    def complete(self, this):
        if this != self.round:
            return
        self.advance()
        over = [op for op in self.running if op.left <= 0.5]
        self.running = [op for op in self.running if op.left > 0.5]
        for op in over:
            op.end = self.now
            self.depth[op.stream] -= 1
        self.plan()
        for op in over:
            op.done.set(self.now)
        if self.turns and not sum(self.depth.values()):
            self.lose_turn(self.turn_number)

    def take_turn(self):
        self.advance()
        self.ours, self.turn_number = True, self.turn_number + 1
        waiting, self.kept_out, this = self.kept_out, [], self.turn_number
        for op in waiting:
            self.enter(op)
        self.plan()
        self.at(self.now + self.turns.ours, lambda: self.lose_turn(this))

    def lose_turn(self, number):
        if not self.ours or number != self.turn_number:
            return
        self.advance()
        self.ours, self.turn_began = False, self.now
        self.plan()
        if sum(self.depth.values()):
            self.at(self.now + self.turns.theirs, self.take_turn)


class Host:
    """What a host thread can do; every method is a generator for `yield from`."""

    def __init__(self, machine, name):
        self.machine, self.name = machine, name

    @property
    def now(self):
        return self.machine.now

    def work(self, ns):
        yield self.machine.vary(ns)

    def wait(self, event):
        """Without a call that a recording would show."""
        yield event

    def pause(self, ns, frame=None):
        """Off the CPU. `frame`: the Python function that waits, if the recorder follows Python."""
        begun = self.now

        def body():
            yield max(0, round(ns))

        yield from self.span("python", frame, body()) if frame else body()
        self.machine.pauses.append((self.name, begun, self.now))

    def span(self, table, name, body, **args):
        """`body`, a generator, inside an operator, range or Python frame."""
        begun = self.now
        span = Span(table, self.name, begun, begun, name, args)
        self.machine.spans.append(span)
        yield {"op": self.machine.recorder.op, "python": self.machine.recorder.python, "range": self.machine.recorder.op}[table]
        result = yield from body
        span.end = self.now
        return result

    def call(self, name, ns, body=None, correlation=None):
        machine = self.machine
        machine.correlation += 1
        number = correlation or machine.correlation
        span = Span("call", self.name, self.now, self.now, name, {"correlation": number})
        machine.spans.append(span)
        yield machine.vary(ns)
        if body is not None:
            yield from body(number)
        span.end = self.now
        yield machine.recorder.call
        return number

    def launch(self, kernel, stream=7, after=(), ns=4_500):
        op = Op("kernel", stream, float(max(1, self.machine.vary(kernel.alone) * self.machine.kernel_factor)), kernel)

        def body(number):
            op.correlation = number
            yield from self.room(stream)
            self.machine.submit(op, after)

        if after:
            yield from self.call("cudaEventRecord", 1_000)
            yield from self.call("cudaStreamWaitEvent", 1_000)
        yield from self.call("cudaLaunchKernel", ns, body)
        return op

    def graph(self, kernels, stream=7, ns=9_000, upload=0):
        """One launch of a CUDA graph: its kernels one after the other, `upload` ns after the call."""
        ops = []

        def body(number):
            yield from self.room(stream)
            uploaded = Event()
            if upload:
                self.machine.at(self.now + round(upload), lambda: uploaded.set(self.machine.now))
            for position, kernel in enumerate(kernels):
                gap = GRAPH_GAP if position else STREAM_GAP
                left = float(max(1, self.machine.vary(kernel.alone) * self.machine.kernel_factor))
                ops.append(Op("kernel", stream, left, kernel, correlation=number, gap=gap, node=position))
                self.machine.submit(ops[-1], (uploaded,) if upload and not position else ())

        yield from self.call("cudaGraphLaunch", ns, body)
        return ops[-1]

    def room(self, stream):
        """A call waits while its stream's queue is full."""
        while self.machine.depth.get(stream, 0) >= QUEUE_DEPTH:
            yield 5_000

    def copy(self, direction, size, stream=7, pinned=True, blocking=False, after=()):
        duration = size / (self.machine.pinned if pinned else min(PAGEABLE, 0.8 * self.machine.pinned))
        op = Op("memcpy", stream, float(max(1_000, self.machine.vary(duration))), engine=direction, bytes=size, pinned=pinned)
        waits = blocking or not pinned

        def body(number):
            op.correlation = number
            self.machine.submit(op, after)
            if waits:
                yield op.done
                yield SYNC_RETURN
            else:
                yield 0

        yield from self.call("cudaMemcpyAsync", 5_000, body)
        return op

    def synchronise(self, stream=7):
        last = self.machine.last.get(stream)

        def body(_):
            if last is not None:
                yield last.done
            yield SYNC_RETURN

        yield from self.call("cudaStreamSynchronize", 2_000, body)

    def synchronise_device(self):
        work = [op for op in self.machine.last.values() if op.done.done_at is None]

        def body(_):
            for op in work:
                yield op.done
            yield SYNC_RETURN

        yield from self.call("cudaDeviceSynchronize", 3_000, body)

    def allocate(self, ns):
        yield from self.call("cudaMalloc", ns)

    def free(self, ns):
        """Which waits for the device."""
        work = [op for op in self.machine.last.values() if op.done.done_at is None]

        def body(_):
            for op in work:
                yield op.done
            yield 0

        yield from self.call("cudaFree", ns, body)
