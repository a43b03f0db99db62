"""Draws programs and what happens to their recordings: a family and its sizes, a kind of damage, a format. A seed and a number give the same
program in each run.
"""

import bisect
import random
from dataclasses import dataclass

from damage import KINDS, Damaged, Recording, calls_of, recording_of
from families import MS, US
from kineto import trace_of
from machine import LAUNCH_LATENCY, Recorder, Turns
from nsys_file import write_nsys
from truth import BUSY, Truth, busy_by, simulate, truth_of
from waiting_programs import PROGRAMS, WAITING

OTHER_PROCESS = "another process"
GRAPHS = ("decode", "graphs", "graph_steps")
COPIES = ("input_bound", "syncs", "pageable_copies", "exposed_copies", "hidden_copies", "two_causes", "two_devices")
ORDINARY = tuple(name for name in PROGRAMS if name not in WAITING and name not in ("barely_used", "pipeline"))
SYNCHRONOUS = ("host_code", "misnamed", "syncs", "input_bound", "graph_steps", "two_causes", "pageable_copies", "launch_bound")  # wait at each step
FAMILIES_OF = {"lost_nodes": GRAPHS, "lost_replays": GRAPHS, "lost_kind": COPIES, "clock_early_of_one_kind": COPIES,
               "clock_early_of_one_device": ("two_devices",), "clock_late": SYNCHRONOUS, "ids_of_nested_calls": SYNCHRONOUS,
               "clean": (*ORDINARY, "pipeline"), "small_overlaps": (*ORDINARY, "pipeline"), OTHER_PROCESS: ORDINARY + 3 * SYNCHRONOUS,
               "requests": ("requests",), "paced": ("paced",), "named_like_a_loader": ("named_like_a_loader",)}
ALL_KINDS = (*KINDS, OTHER_PROCESS, "requests", "paced", "named_like_a_loader")
OS_WAITS = (None, "poll", "epoll_wait", "select", "pthread_cond_wait", "pthread_cond_timedwait", "clock_nanosleep", "recvmsg", "sem_clockwait")
SAID_FROM = 0.05  # of the window: less waiting for another process need not be said


@dataclass
class Program:
    number: int
    kind: str
    family: str
    nsys: bool  # else torch.profiler
    os_call: str  # in which it waits
    switches: bool  # of the scheduler were recorded
    truth: Truth
    clean: Recording
    damaged: Damaged
    unit_ns: int
    unit_limits: frozenset

    def waits_in(self):
        """What the recording shows of the waits of a program that waits."""
        if self.nsys:
            return f"{self.os_call or 'no call'}{', switches recorded' if self.switches else ''}"
        frames = {span.name for span in self.clean.spans if span.table == "python"}
        return ", ".join(sorted(frames)) or "no frame"

    def write(self, folder, name, recording):
        path = folder / f"{name}.{'sqlite' if self.nsys else 'json'}"
        if self.nsys:
            path.unlink(missing_ok=True)
            write_nsys(path, recording, self.os_call, self.switches)
        else:
            path.write_text(trace_of(recording))
        return path


def waiting_share(run):
    """The part of the time in which work was submitted and the device did nothing, by a clear margin."""
    calls, ops = calls_of(run.machine), sorted(run.machine.ops, key=lambda op: op.start)
    ready = sorted(calls[op.correlation].end + LAUNCH_LATENCY for op in ops)
    starts = [op.start for op in ops]
    waited, busy_until = 0, ops[0].start
    for started, op in enumerate(ops):
        if op.start > busy_until:
            submitted = bisect.bisect_right(ready, op.start)  # as many have started as are before this one
            since = max(busy_until, ready[started] if submitted > started else op.start)
            waited += max(0, op.start - since - 20 * US)
        busy_until = max(busy_until, op.end)
    return waited / (max(op.end for op in ops) - starts[0])


def with_another_process(family, sizes, chance):
    turns = Turns(round(chance.uniform(1, 6) * MS), round(chance.uniform(1, 4) * MS))
    run = simulate(family, sizes, turns=turns)
    silent = Recorder(0, 0, 0, 0)
    true_run = simulate(family, sizes, recorder=silent, turns=turns)
    step = true_run.per_step()
    shares = {BUSY[what]: part for what, part in busy_by(true_run).items() if what in BUSY}
    gains = {}
    for cause, verdict in dict(run.case.causes).items():
        won = 1 - simulate(family, sizes, (cause,), recorder=silent, turns=turns).per_step() / step
        gains[cause] = (verdict, won)
        shares[verdict] = max(shares.get(verdict, 0), won)
    # What a cause costs the program alone counts too: how turns fall after a change cannot be known.
    alone = truth_of(family, sizes)[1].gains
    gains = {cause: (verdict, max(won, alone.get(cause, (verdict, 0))[1])) for cause, (verdict, won) in gains.items()}
    waits = waiting_share(run)
    shares[OTHER_PROCESS] = waits
    says = frozenset({"unrecorded_work"}) if waits >= SAID_FROM else frozenset()
    note = f"turns of {turns.ours / MS:.1f} ms, the other process {turns.theirs / MS:.1f} ms; it is waited for {100 * waits:.0f} %"
    damaged = Damaged(recording_of(run.machine), says, note, may_say=frozenset({"unrecorded_work"}))
    return run, Truth(shares, gains, unnamed=run.case.unnamed), damaged


def draw(seed, number, kinds=ALL_KINDS):
    """The program of this number; kinds take turns."""
    kind = kinds[number % len(kinds)]
    for trial in range(100):
        chance = random.Random(f"{seed}/{kind}/{number}/{trial}")
        family = chance.choice(FAMILIES_OF.get(kind, ORDINARY))
        sizes = f"{seed}/{number}/{trial}"
        if kind == OTHER_PROCESS:
            run, truth, damaged = with_another_process(family, sizes, chance)
            clean = recording_of(simulate(family, sizes).machine)
        else:
            run, truth = truth_of(family, sizes)
            clean = recording_of(run.machine)
            damaged = KINDS.get(kind, KINDS["clean"])(recording_of(run.machine), chance)
        if damaged is not None:
            nsys, os_call = chance.random() < 0.35, chance.choice(OS_WAITS)
            switches = chance.random() < 0.5 or (kind == "paced" and os_call is None)
            return Program(number, kind, family, nsys, os_call, switches, truth, clean, damaged, run.case.unit_ns, run.case.unit_limits)
    raise RuntimeError(f"no program for {kind}")
