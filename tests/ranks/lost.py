"""Puts lost device events back where their launches and peers say they were.

A profiler loses kernels, not launches. A replay without a lost kernel sees an idle device, and a wait that nothing explains: it would charge them to the rank. So
each launch without its event gets one. A lost collective ends with its other members and begins after the compute before it. A lost kernel takes its peers'
time, within the free time of its stream: at its end if a wait lies before it, else at its beginning. All times must be on one clock. These are
estimates: with a third of the events lost they may contradict each other, and then there is no replay.
"""

import numpy as np

from .events import COMPUTED, in_order
from .levels import keys, medians

GAP = 1_000  # ns between two events of a stream


def member_ends(events, lost):
    """By row: the median end of the other members of its instance, nan without any."""
    sync = events.group >= 0
    key = np.where(sync, (events.group.astype(np.int64) << 44) + events.seq, -1 - np.arange(len(events), dtype=np.int64))
    known = ~lost & sync
    ends = np.full(len(events), np.nan)
    if known.any():
        middle, _ = medians(key[known], events.end[known])
        order = {k: value for k, value in zip(key[known].tolist(), middle.tolist())}
        ends = np.array([order.get(k, np.nan) for k in key.tolist()])
    return ends


def peer_times(events, lost):
    """By row: the median time of the peers that have one; 0 if all lost it."""
    same, other = keys(events)
    time = events.end - events.start
    found = np.zeros(len(events))
    for key in (other, same):  # peers of the same step win
        known, _ = medians(key[~lost], time[~lost])
        table = dict(zip(key[~lost].tolist(), known.tolist()))
        values = np.array([table.get(k, np.nan) for k in key.tolist()])
        found = np.where(np.isfinite(values), values, found)
    return found


def with_lost(events):
    """The events with all of them in place. Lost ones have no end yet."""
    lost = np.isnan(events.end)
    return in_order(put_back(kinds_of_peers(events, lost), lost)) if lost.any() else events


def put_back(events, lost):
    """Fills in start and end of the rows of `lost`, in order of launches."""
    ends, times = member_ends(events, lost), peer_times(events, lost)
    order = np.lexsort((events.place, events.step, events.rank))
    for rank in np.unique(events.rank[lost]):
        rows = order[events.rank[order] == rank]
        compute = [row for row in rows if events.group[row] < 0]
        following = {a: b for a, b in zip(compute, compute[1:])}
        last, waited = -np.inf, -np.inf  # ends of the compute before, and of the collectives since
        for row in rows.tolist():
            if lost[row] and events.group[row] >= 0:
                start = max(last + GAP, events.launch[row])
                end = ends[row] if np.isfinite(ends[row]) else start + times[row]
                events.start[row], events.end[row] = min(start, end), end
            elif lost[row]:
                start = max(last + GAP, events.launch[row])
                after = following.get(row)
                free = events.start[after] - GAP if after is not None and not lost[after] else np.inf
                late = waited > last and np.isfinite(free)
                start = max(start, free - times[row] if late else start)
                events.start[row], events.end[row] = start, max(start, min(free, start + times[row]))
            if events.group[row] >= 0:
                waited = max(waited, events.end[row])
            else:
                last, waited = events.end[row], -np.inf
    return events


def kinds_of_peers(events, lost):
    """Fills in stream, name and size of lost kernels from the same place of other ranks of the stage."""
    stage = events.stage[events.rank].astype(np.int64)
    key = (stage << 40) + events.place
    known = ~lost & (events.group < 0)
    first = dict(zip(key[known][::-1].tolist(), np.flatnonzero(known)[::-1].tolist()))
    for row in np.flatnonzero(lost & (events.group < 0)).tolist():
        if (peer := first.get(int(key[row]))) is not None:
            for column in ("kind", "stream", "name", "blocks"):
                getattr(events, column)[row] = getattr(events, column)[peer]
        else:
            events.kind[row] = COMPUTED
    return events
