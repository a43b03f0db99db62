"""What recorders do to recordings: each kind of damage is a function (recording, random numbers) -> Damaged.

The recording is that of a simulated program, which keeps the truth. A kind says what the answer must name (one of these losses), or that nothing
is impossible and no check may complain. It returns None where it does not apply: a program without graphs cannot lose their nodes. Only damage
that contradicts what hardware can do is drawn, by a margin: that a kernel is 5 % too long shows nowhere.
"""

import bisect
import collections
from dataclasses import dataclass, replace

US, MS = 1_000, 1_000_000
CLEAR = 10 * US  # what is earlier than its cause by this much is no error of the clocks' alignment
EARLY = frozenset({"device_clock_early", "early_work"})
LATE = frozenset({"device_clock_late", "late_work"})
# Losses that nothing undamaged may be said to have. Idle time with work submitted (`unrecorded_work`) may be short and harmless: the check decides.
ALARMS = EARLY | LATE | {"overrun", "copied_event", "zero_duration", "kind_not_recorded", "duplicate_correlation"}
NOTHING_RECORDED = frozenset({"kind_not_recorded", "launch_without_kernel", "copy_without_record", "graph_without_nodes"})


@dataclass
class Recording:
    spans: list
    ops: list
    pauses: list


@dataclass
class Damaged:
    recording: Recording
    says: frozenset  # the answer must name one of these; empty: none of ALARMS
    note: str  # what was done
    keeps_times: bool = False  # busy time and window can be restored
    unknowable: bool = False  # so much is missing that abstaining is right
    may_say: frozenset = frozenset()  # what is allowed, though it may be too little to be wanted, or to fail a check
    says_too: frozenset = frozenset()  # and one of these, of a second kind


def recording_of(machine):
    return Recording([replace(span) for span in machine.spans], [replace(op) for op in machine.ops], list(machine.pauses))


def log_uniform(chance, low, high):
    return low * (high / low) ** chance.random()


def by_stream(ops):
    streams = collections.defaultdict(list)
    for op in sorted(ops, key=lambda op: op.start):
        streams[op.stream].append(op)
    return streams


def calls_of(recording):
    return {span.args["correlation"]: span for span in recording.spans if span.table == "call"}


def kernels_of(recording):
    return [op for op in recording.ops if op.kernel is not None]


def window(recording):
    return min(op.start for op in recording.ops), max(op.end for op in recording.ops)


# Durations.


def overrun(recording, chance):
    """A few durations run over what follows on their stream, by a little or to seconds after the end."""
    candidates = [(stream, place) for stream in by_stream(recording.ops).values() for place in range(len(stream) - 3)]
    if not candidates:
        return None
    begin, end = window(recording)
    victims = chance.sample(candidates, min(len(candidates), chance.choice([1, 1, 1, 2, 5])))
    for stream, place in victims:
        far = chance.random() < 0.5
        past = place + 1  # nodes of one launch may be branches: only what runs into another launch is impossible
        while past < len(stream) and stream[place].node is not None and stream[past].correlation == stream[place].correlation:
            past += 1
        far = far or past >= len(stream)
        after = stream[min(len(stream) - 1, past + chance.randint(1, 40))]
        stream[place].end = round(end + log_uniform(chance, 0.01, 50) * (end - begin)) if far else after.end
    return Damaged(recording, frozenset({"overrun"}), f"{len(victims)} durations run over their successors", keeps_times=True)


def zero_duration(recording, chance):
    kernels = kernels_of(recording)
    share = chance.choice([0.05, 0.3, 0.6, 1.0])
    victims = [op for op in kernels if chance.random() < share]
    if not victims:
        return None
    lost = sum(op.end - op.start for op in victims) / max(1, sum(op.end - op.start for op in kernels))
    for op in victims:
        op.end = op.start
    return Damaged(recording, frozenset({"zero_duration"}), f"{len(victims)} of {len(kernels)} kernels have 0 ns", unknowable=lost > 0.05)


def copied_event(recording, chance):
    """Events twice: all, those of the device, or some."""
    what = chance.choice(["all", "device", "some"])
    share = 1.0 if what != "some" else chance.uniform(0.1, 0.9)
    ops = [replace(op) for op in recording.ops if chance.random() < share]
    spans = [replace(span) for span in recording.spans if chance.random() < share] if what != "device" else []
    if not ops:
        return None
    if chance.random() < 0.5:
        recording.ops, recording.spans = recording.ops + ops, recording.spans + spans
    else:  # next to the original
        recording.ops = sorted(recording.ops + ops, key=lambda op: (op.start, op.correlation))
        recording.spans = sorted(recording.spans + spans, key=lambda span: (span.start, -span.end))
    return Damaged(recording, frozenset({"copied_event"}), f"{what} events twice ({len(ops)} of the device)", keeps_times=True)


# Clocks.


def early(recording, ops):
    """How many operations start clearly before their call."""
    calls = calls_of(recording)
    return sum(op.correlation in calls and op.start < calls[op.correlation].start - CLEAR for op in ops)


def shifted(recording, chance, ops, what):
    shift = round(log_uniform(chance, 30 * US, 50 * MS))
    if len(ops) < 3:
        return None
    for op in ops:
        op.start, op.end = op.start - shift, op.end - shift
    while early(recording, ops) < max(3, 0.05 * len(ops)):  # such a small shift shows nowhere
        shift, before = round(shift * 1.5), shift
        for op in ops:
            op.start, op.end = op.start - shift + before, op.end - shift + before
        if shift > 10_000 * MS:
            return None
    return Damaged(recording, EARLY, f"{what} {shift / MS:.3f} ms early", keeps_times=what == "the device")


def clock_early(recording, chance):
    return shifted(recording, chance, recording.ops, "the device")


def clock_early_of_one_device(recording, chance):
    second = [op for op in recording.ops if op.device == 1]
    return shifted(recording, chance, second, "device 1")


def clock_early_of_one_kind(recording, chance):
    kernels = chance.random() < 0.5
    return shifted(recording, chance, [op for op in recording.ops if (op.kernel is not None) == kernels], "kernels" if kernels else "copies")


def late(recording):
    """How many operations end clearly after a call that waited for them has returned."""
    calls = calls_of(recording)
    waits = sorted((span.start, span.end) for span in calls.values() if span.name in ("cudaStreamSynchronize", "cudaDeviceSynchronize"))
    count = 0
    for op in recording.ops:
        if op.stream == 7 and op.correlation in calls:  # the stream that they wait for
            place = bisect.bisect_left(waits, (calls[op.correlation].end, 0))
            count += place < len(waits) and op.end > waits[place][1] + CLEAR
    return count


def clock_late(recording, chance):
    shift = round(log_uniform(chance, 30 * US, 20 * MS))
    for op in recording.ops:
        op.start, op.end = op.start + shift, op.end + shift
    if late(recording) < max(3, 0.05 * len(recording.ops)):
        return None
    return Damaged(recording, LATE, f"the device {shift / MS:.3f} ms late", keeps_times=True)


def clock_drifts(recording, chance):
    """The device's clock is slow, and earlier and earlier."""
    begin, end = window(recording)
    share = log_uniform(chance, 0.001, 0.2)
    for op in recording.ops:
        op.start, op.end = round(op.start - share * (op.start - begin)), round(op.end - share * (op.end - begin))
    if early(recording, recording.ops) < max(3, 0.05 * len(recording.ops)):
        return None
    return Damaged(recording, EARLY, f"the device's clock loses {100 * share:.1f} %", unknowable=True)


def one_wrong_start(recording, chance):
    """One record starts long before its call: nothing else may move."""
    calls = calls_of(recording)
    candidates = [op for op in recording.ops if op.correlation in calls and op.node is None]
    if len(candidates) < 20:
        return None
    op = chance.choice(candidates)
    start = calls[op.correlation].start - round(log_uniform(chance, 1 * MS, 30 * MS))
    op.start, op.end = start, start + op.end - op.start
    return Damaged(recording, EARLY | {"overrun"}, "one operation starts before its call", keeps_times=True)


# Work that was not recorded.


def graph_launches(recording):
    """Lists of the operations of each launch of a graph."""
    launches = collections.defaultdict(list)
    for op in recording.ops:
        if op.node is not None:
            launches[op.correlation].append(op)
    return list(launches.values())


def lost_nodes(recording, chance):
    """Of each launch of a graph, only some nodes are left: the first ones, the same ones, or others each time."""
    launches = graph_launches(recording)
    if not launches:
        return None
    how = chance.choice(["first", "first", "same", "other"])
    share = log_uniform(chance, 0.03, 0.5)
    count = len(launches[0])
    same = {node for node in range(count) if chance.random() < share} or {0}
    kept = {"first": lambda op: op.node < max(1, share * count), "same": lambda op: op.node in same, "other": lambda op: chance.random() < share}[how]
    all_ops = len(recording.ops)
    recording.ops = [op for op in recording.ops if op.node is None or kept(op)]
    if not kernels_of(recording):
        return None
    return Damaged(recording, frozenset({"unrecorded_work", "missing_graph_node", "graph_without_nodes"}),
                   f"{len(recording.ops)} of {all_ops} operations of graphs ({how})", unknowable=True)


def lost_replays(recording, chance):
    launches = graph_launches(recording)
    if len(launches) < 4:
        return None
    kept = {op.correlation for launch in launches[:chance.randint(1, len(launches) // 2)] for op in launch}
    recording.ops = [op for op in recording.ops if op.node is None or op.correlation in kept]
    return Damaged(recording, NOTHING_RECORDED | {"unrecorded_work", "work_at_edge"}, f"{len(kept)} of {len(launches)} replays", unknowable=True)


def lost_kernels(recording, chance):
    share = chance.uniform(0.2, 0.9)
    before = len(recording.ops)
    recording.ops = [op for op in recording.ops if op.kernel is None or chance.random() >= share]
    if not recording.ops or len(recording.ops) == before:
        return None
    return Damaged(recording, NOTHING_RECORDED | {"unrecorded_work", "missing_graph_node"}, f"{len(recording.ops)} of {before} operations", unknowable=True)


def lost_kind(recording, chance):
    """All kernels, or all copies."""
    kernels = chance.random() < 0.6
    kept = [op for op in recording.ops if (op.kernel is None) == kernels]
    if not kept or len(kept) == len(recording.ops):
        return None
    recording.ops = kept
    return Damaged(recording, NOTHING_RECORDED, f"all {'kernels' if kernels else 'copies'} lost", unknowable=True)


# Two kinds.


def two_kinds(recording, chance):
    pair = chance.choice([(overrun, clock_early), (zero_duration, clock_early), (overrun, copied_event), (clock_early, copied_event),
                          (zero_duration, copied_event), (zero_duration, overrun), (lost_kernels, overrun)])
    first = pair[0](recording, chance)
    second = first and pair[1](first.recording, chance)
    if not second:
        return None
    return Damaged(second.recording, first.says, f"{first.note}; {second.note}", first.keeps_times and second.keeps_times,
                   first.unknowable or second.unknowable, says_too=second.says)


# What is not damage: no check may complain about it.


def small_overlaps(recording, chance):
    """A kernel starts a little before its predecessor's end, as after a programmatic dependent launch: up to 3.3 us were measured on an H200."""
    for stream in by_stream(recording.ops).values():
        for op, after in zip(stream, stream[1:]):
            if op.kernel is not None and after.kernel is not None and after.start - op.end < 5 * US and chance.random() < 0.3:
                op.end = min(after.start + round(chance.uniform(0, 3.3 * US)), (after.start + after.end) // 2)
    return Damaged(recording, frozenset(), "kernels overlap by up to 3.3 us", keeps_times=True)


def ids_of_nested_calls(recording, _):
    """Calls that wait make a call of the driver, with the same id; nothing on the device has it."""
    waits = [span for span in recording.spans if span.table == "call" and span.name.endswith("Synchronize")]
    recording.spans += [replace(span, name="cuStreamSynchronize", start=span.start + 200, end=span.end - 200) for span in waits]
    return Damaged(recording, frozenset(), "nested calls share ids", keeps_times=True)


def clean(recording, _):
    return Damaged(recording, frozenset(), "nothing", keeps_times=True)


KINDS = {each.__name__: each for each in (
    overrun, zero_duration, copied_event, clock_early, clock_early_of_one_device, clock_early_of_one_kind, clock_late, clock_drifts, one_wrong_start,
    lost_nodes, lost_replays, lost_kernels, lost_kind, two_kinds, small_overlaps, ids_of_nested_calls, clean)}
