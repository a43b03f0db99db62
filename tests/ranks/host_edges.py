"""What the host adds to a replay: no event starts before its launch, and launches follow the last synchronisation.

The host is ahead of the device most of the time, so lateness of the host shows on the device only where nothing else is later. A replay of device
events alone takes such a pause for repaired when another cause hides it, and then overrates the repair of that cause. Here each event
also follows the event with which the step before ended for its host. The time from there to its launch is its lead, and its excess over the peers is
divided into input, pauses and launches. Without launches or steps in a recording there is no lead.
"""

from dataclasses import dataclass

import numpy as np

from .levels import INPUT, LAUNCH, PAUSE, medians

OWN_GAP = 2_000  # ns: what a stream itself needs between two events


@dataclass
class Lead:
    before: np.ndarray  # by row: the event that the host waited for, -1 in its first step
    first: np.ndarray  # by row: when the host began, for rows without one
    lead: np.ndarray  # by row, ns
    over: dict  # cause -> by row: excess of the lead over the peers'


def recorded(events):
    return np.isfinite(events.launch).all() and np.isfinite(events.fetched).any()


def synchronised(events):
    """[rank, step]: the row that ended last before the host began the step."""
    found = np.full(events.begin.shape, -1)
    for rank in np.unique(events.rank):
        rows = np.flatnonzero(events.rank == rank)
        by_end = rows[np.argsort(events.end[rows], kind="stable")]
        position = np.searchsorted(events.end[by_end], events.begin[rank]) - 1
        found[rank] = np.where(position >= 0, by_end[np.maximum(position, 0)], -1)
    return found


def excess(events, stage, step, values):
    """[rank, step] values over the median of the ranks of a stage, not below 0."""
    level, _ = medians((stage << 32) + step, values)
    return np.maximum(0, values - level)


def leads(events, gap):
    """The leads, and the gaps that remain on the device: those that a launch explains are the host's."""
    rank, step = events.rank, events.step
    after = events.start - events.launch
    latency = np.full(len(events.host), np.inf)
    np.minimum.at(latency, rank, after)
    prompt = after - latency[rank] < 5_000
    before = synchronised(events)[rank, step]
    base = np.where(before >= 0, events.end[before], events.begin[rank, step])
    lead = np.where(prompt, events.start, events.launch + latency[rank]) - base
    device = np.where(prompt, np.minimum(gap, OWN_GAP), gap)
    ranks, steps = np.meshgrid(np.arange(len(events.host)), np.arange(events.begin.shape[1]), indexing="ij")
    loading = (events.fetched - events.begin).reshape(-1)
    pausing = np.nan_to_num(events.pauses[..., 1] - events.pauses[..., 0]).reshape(-1)
    stage = events.stage[ranks.reshape(-1)].astype(np.int64)
    cell = rank * events.begin.shape[1] + step
    paused = np.nan_to_num(events.pauses[rank, step, 1], nan=np.inf) <= events.launch
    over = {INPUT: excess(events, stage, steps.reshape(-1), loading)[cell], PAUSE: np.where(paused, excess(events, stage, steps.reshape(-1), pausing)[cell], 0)}
    rest = lead - loading[cell] - np.where(paused, pausing[cell], 0)
    level, _ = medians((events.stage[rank].astype(np.int64) << 50) + (step.astype(np.int64) << 30) + events.place, rest)
    over[LAUNCH] = np.maximum(0, rest - level)
    return Lead(before, events.begin[rank, step], lead, over), device

