"""What each time would be if its rank were like its peers, and what an excess is due to.

Peers of an event: the events of the same step and place on the ranks of its stage. With fewer than four of them, the same place of the same rank in its other
steps. A transfer is compared between groups of the same kind and size. A gap with the host's launch at its end is the host's: input, a pause, or launches that
come late. A gap without is unexplained and is charged to no rank.
"""

from dataclasses import dataclass

import numpy as np

from .events import COMPUTED, COPY

CAUSES = ("slow GPU", "more work", "slow host", "late data", "pause", "unexplained gap", "slow link")
GPU, WORK, LAUNCH, INPUT, PAUSE, GAP, LINK = range(7)
FEWEST = 4  # peers
PROMPT = 40_000  # ns between a launch and its start: more, and the host was early
SHORT = 20_000  # ns: shorter gaps are the stream's own


@dataclass
class Levels:
    time: np.ndarray  # by row: of the peers
    gap: np.ndarray
    time_cause: np.ndarray  # by row: to what an excess of time is due
    gap_cause: np.ndarray


def medians(keys, values):
    """By row: the median of the rows with the same key; and how many they are."""
    _, group = np.unique(keys, return_inverse=True)
    order = np.lexsort((values, group))
    counts = np.bincount(group)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    low, high = order[begins + (counts - 1) // 2], order[begins + counts // 2]
    return ((values[low] + values[high]) / 2)[group], counts[group]


def with_fallback(first, second, values):
    level, count = medians(first, values)
    own, _ = medians(second, values)
    return np.where(count >= FEWEST, level, own)


def keys(events):
    """(peers, the rank's other steps)"""
    place, step, stage = events.place.astype(np.int64), events.step.astype(np.int64), events.stage[events.rank].astype(np.int64)
    return (stage << 50) + (step << 30) + place, (events.rank.astype(np.int64) << 30) + place


def transfer_levels(events, transfer, matched):
    """The median over groups of the same kind, size, operation and step; each group counts once, with its own median."""
    level = transfer.copy()
    rows = np.flatnonzero(matched)
    if not len(rows):
        return level
    kinds = sorted({(kind, len(ranks)) for kind, ranks in events.groups})
    kind = np.array([kinds.index((kind, len(ranks))) for kind, ranks in events.groups])
    group, name, step = events.group[rows].astype(np.int64), events.name[rows].astype(np.int64), events.step[rows].astype(np.int64)
    own, _ = medians((group << 40) + (name << 30) + step, transfer[rows])
    alike = (kind[group].astype(np.int64) << 40) + (name << 30) + step
    _, first = np.unique((group << 40) + (name << 30) + step, return_index=True)
    pooled = (group << 40) + (name << 30)
    over_steps, _ = medians(pooled[first], own[first])
    of_alike, counts = medians(alike[first], own[first])
    table = {key: (value if count >= FEWEST else other) for key, value, count, other in
             zip(((group << 40) + (name << 30) + step)[first].tolist(), of_alike, counts, over_steps)}
    target = np.array([table[key] for key in ((group << 40) + (name << 30) + step).tolist()])
    level[rows] = np.maximum(0, transfer[rows] + target - own)
    return level


def overlap(begin, end, first, last):
    return np.maximum(0, np.minimum(end, last) - np.maximum(begin, first))


def gap_causes(events, gap):
    end = events.start
    begin = end - gap
    prompt = end - events.launch < PROMPT
    half = gap / 2
    rank, step = events.rank, events.step
    loading = np.nan_to_num(overlap(begin, end, events.begin[rank, step], events.fetched[rank, step]))
    pausing = np.nan_to_num(overlap(begin, end, events.pauses[rank, step, 0], events.pauses[rank, step, 1]))
    host = np.where(pausing > half, PAUSE, np.where(loading > half, INPUT, LAUNCH))
    return np.where(gap < SHORT, LAUNCH, np.where(prompt, host, GAP))


def peers(events, made):
    """Levels by the definition of peers."""
    same, other = keys(events)
    computed = np.isin(events.kind, (COMPUTED, COPY)) | ~(made.matched | made.partial)
    time = np.where(computed, with_fallback(same, other, made.time), transfer_levels(events, made.time, made.matched & ~made.partial))
    blocks, _ = medians(same, events.blocks.astype(float))
    time_cause = np.where(~computed, LINK, np.where(np.abs(events.blocks - blocks) > 0.01 * blocks, WORK, GPU))
    cause = gap_causes(events, made.gap)
    return Levels(time, np.minimum(made.gap, with_fallback(same, other, made.gap)), time_cause, cause)


def everything(events, made):
    """Levels as ByteDance's published analysis has them: one value per operation for all ranks, stages and steps; no gaps."""
    name = events.name.astype(np.int64)
    computed = ~np.isin(name, [i for i, text in enumerate(events.names) if text in PUBLIC_TRANSFERS])
    mean = np.bincount(name, made.time) / np.maximum(1, np.bincount(name))
    median, _ = medians(name, made.time)
    return Levels(np.where(computed, mean[name], median), np.zeros(len(events)), np.where(computed, WORK, LINK), np.full(len(events), GAP))


PUBLIC_TRANSFERS = ("forward-send", "forward-recv", "backward-send", "backward-recv", "params-all-gather", "grads-reduce-scatter", "layernorm-grads-all-reduce",
                    "embedding-grads-all-reduce", "optimizer-clip-main-grad")
