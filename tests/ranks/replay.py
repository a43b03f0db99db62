"""Replays a job's events, as recorded or with some times replaced.

Each event follows the event of its rank that ended last before it started, and its predecessor on its own stream; the time between is its gap. It also
follows its launch (host_edges.py), where launches were recorded. A
computed event lasts its time. The members of a matched instance start their transfer at the last arrival, and each ends its own transfer time later. Nothing
else is assumed: no model, no schedule. All events of one depth are computed at once, for many variants of the job side by side.
"""

from dataclasses import dataclass

import numpy as np

from .events import COLLECTIVE, P2P


class Contradiction(Exception):
    pass


@dataclass
class Graph:
    instance: np.ndarray  # by row: number of its instance; every event that is not matched is an instance of its own
    layers: list  # per depth: (rows sorted by instance, first row of each instance, instance of each row within the depth)
    before: np.ndarray  # [row, 2]: predecessors, -1 for none
    gap: np.ndarray  # by row
    time: np.ndarray  # by row: own time of a computed event, transfer of a member
    matched: np.ndarray  # by row: member of an instance with more than one rank
    partial: np.ndarray  # by row: member of an instance of which some ranks have no event


def instances(events):
    """By row: the number of its instance, whether it is matched, and whether it should have more members."""
    sync = np.isin(events.kind, (COLLECTIVE, P2P)) & (events.group >= 0)
    key = np.where(sync, (events.group.astype(np.int64) << 44) + events.seq, -1 - np.arange(len(events), dtype=np.int64))
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    sizes = np.array([2 if kind == "pp" else len(ranks) for kind, ranks in events.groups] + [1])
    return number, count[number] > 1, sync & (count[number] < sizes[events.group])


def transfers(events, time, partial):
    """A partial instance may wait for a rank without events. Its transfer is no longer than is usual for its kind; the rest is not charged to anyone."""
    if not partial.any():
        return time
    kinds = sorted({(kind, len(ranks)) for kind, ranks in events.groups})
    of_group = np.array([kinds.index((kind, len(ranks))) for kind, ranks in events.groups] + [-1])
    key = of_group[events.group] * len(events.names) + events.name
    usual = {}
    for value in np.unique(key[partial]):
        alike = key == value
        whole = alike & ~partial
        usual[value] = np.median(time[whole]) if whole.any() else time[alike].min()
    return np.where(partial, np.minimum(time, [usual.get(value, np.inf) for value in key.tolist()]), time)


def previous_on_stream(events):
    """By row: the row before on the same rank and stream."""
    order = np.lexsort((events.start, events.stream, events.rank))
    same = (np.diff(events.rank[order]) == 0) & (np.diff(events.stream[order]) == 0)
    found = np.full(len(events), -1)
    found[order[1:][same]] = order[:-1][same]
    return found


def last_ended(events, tolerance):
    """By row: the row of the same rank that started earlier and ended last, no later than this one started, plus the tolerance."""
    found = np.full(len(events), -1)
    for rank in np.unique(events.rank):
        rows = np.flatnonzero(events.rank == rank)  # sorted by start
        by_end = rows[np.argsort(events.end[rows], kind="stable")]
        count = np.searchsorted(events.end[by_end], events.start[rows] + tolerance, side="right")
        position = {row: i for i, row in enumerate(rows.tolist())}
        rank_of_end = [position[row] for row in by_end.tolist()]
        for i, limit in enumerate(count.tolist()):
            last = limit - 1
            while last >= 0 and rank_of_end[last] >= i:
                last -= 1
            if last >= 0:
                found[rows[i]] = by_end[last]
    return found


def depths(instance, before):
    """The depth of each instance: 1 + that of its deepest predecessor. None if they form a cycle."""
    count = int(instance.max()) + 1
    rows, column = np.nonzero(before >= 0)
    edges = np.unique(np.stack([instance[before[rows, column]], instance[rows]], 1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    order = np.argsort(edges[:, 0], kind="stable")
    target, begins = edges[order, 1], np.searchsorted(edges[order, 0], np.arange(count + 1))
    left = np.bincount(edges[:, 1], minlength=count)
    depth, front, level, done = np.zeros(count, int), np.flatnonzero(left == 0), 0, 0
    while len(front):
        depth[front], done, level = level, done + len(front), level + 1
        sizes = begins[front + 1] - begins[front]
        next_rows = np.repeat(begins[front] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
        reached, times = np.unique(target[next_rows], return_counts=True)
        left[reached] -= times
        front = reached[left[reached] == 0]
    return depth if done == count else None


def graph(events, tolerance):
    """Of events whose times are on one clock."""
    instance, matched, partial = instances(events)
    stream = previous_on_stream(events)
    for allowed in (tolerance, 0):
        before = np.stack([last_ended(events, allowed), stream], 1)
        depth = depths(instance, before)
        if depth is not None:
            break
    else:
        raise Contradiction("the order of events of different ranks contradicts itself")
    ended = np.where(before >= 0, events.end[before], -np.inf).max(1)
    gap = np.where(np.isfinite(ended), events.start - ended, 0)
    last = np.full(int(instance.max()) + 1, -np.inf)
    np.maximum.at(last, instance, events.start)
    time = np.where(matched, np.maximum(0, events.end - last[instance]), events.end - events.start)
    time = transfers(events, time, partial)
    own = depth[instance]
    layers = []
    sorted_rows = np.lexsort((instance, own))
    for rows in np.split(sorted_rows, np.flatnonzero(np.diff(own[sorted_rows])) + 1):
        begins = np.flatnonzero(np.concatenate([[True], np.diff(instance[rows]) != 0]))
        sizes = np.diff(np.concatenate([begins, [len(rows)]]))
        layers.append((rows, begins, np.repeat(np.arange(len(begins)), sizes)))
    return Graph(instance, layers, before, gap, time, matched, partial)


def replay(made, first, gap, time, host=None, lead=None):
    """Ends [row, variant]. `first`: starts of events without predecessors. `gap`, `time`, `lead`: [row, variant]."""
    ends = np.full((len(gap) + 1, gap.shape[1]), -np.inf)  # the last row is that of "none"
    for rows, begins, member in made.layers:
        before = made.before[rows]
        ready = np.maximum(ends[before[:, 0]], ends[before[:, 1]])
        start = np.where(np.isfinite(ready), ready, first[rows, None]) + gap[rows]
        if host is not None:
            base = host.before[rows]
            start = np.maximum(start, np.where(base[:, None] >= 0, ends[base], host.first[rows, None]) + lead[rows])
        last = start if len(begins) == len(rows) else np.maximum.reduceat(start, begins, axis=0)[member]
        ends[rows] = last + time[rows]
    return ends[:-1]
