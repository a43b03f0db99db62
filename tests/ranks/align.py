"""Estimates the clocks of hosts from the ends of collectives that all members leave together.

Model: recorded end = offset(host) + rate(host) * (t - middle) + moment(instance). Rates have a prior of 20 ppm, residuals a Huber weight, and each
class of collectives (kind, name) a weight from its own residuals. One offset of each connected set of hosts is fixed at 0: absolute time is unknown.
The stated error of a host is that of two fits on random halves of the instances, plus the 95th percentile of its residuals; their median would not
cover what is constant for a GPU. A clock that jumps has a second offset from there: its differences to most other hosts jump at one time.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from .events import COLLECTIVE, P2P

TRUSTED = ("all_reduce", "all_gather", "send", "recv")
PRIOR = 20e-6  # of rates
HUBER = 1.5  # in standard deviations
ROUNDS = 6
MOMENTS = 400  # instances per chunk of the normal equations
ANCHORS = 8  # instances per group, name and step: the last ones
FEWEST = 8  # usable instances of a host
JUMP = 1e6  # ns
UNUSABLE = 1e6  # ns: median residual of a host whose clock is refused


@dataclass
class Alignment:
    offset: np.ndarray  # by host, ns
    rate: np.ndarray
    middle: float
    island: np.ndarray  # by host: the number of its connected set
    residual: np.ndarray  # by host: median of its absolute residuals
    error: np.ndarray  # by host, ns, stated
    used: np.ndarray  # by host: instances
    refused: np.ndarray  # by host
    jumps: dict = field(default_factory=dict)  # host -> (time of its jump, its number from there)

    def aligned(self, times, hosts):
        host = hosts.copy()
        for jumped, (at, number) in self.jumps.items():
            host[(hosts == jumped) & (times >= at)] = number
        return times - np.where(self.refused[host], 0, self.offset[host] + self.rate[host] * (times - self.middle))


def corrected(events, clocks):
    """The same events with all times on the aligned clock."""
    row, cell = events.host[events.rank], np.broadcast_to(events.host[:, None], events.begin.shape)
    times = {key: clocks.aligned(getattr(events, key), row) for key in ("start", "end", "launch")}
    times |= {key: clocks.aligned(getattr(events, key), cell) for key in ("begin", "fetched", "done")}
    pauses = np.stack([clocks.aligned(events.pauses[..., i], cell) for i in (0, 1)], -1)
    return replace(events, **times, pauses=pauses)


def step_of(differences):
    """(position, height) of the largest step in a series: where the means of both sides differ most."""
    count = np.arange(1, len(differences))
    sums = np.cumsum(differences)[:-1]
    heights = (differences.sum() - sums) / (len(differences) - count) - sums / count
    weight = np.sqrt(count * (len(differences) - count))
    best = int(np.argmax(np.abs(heights) * weight))
    return best + 1, heights[best]


def pair_jumps(instance, host, ends):
    """For each pair of hosts, for both: (host, its last time before, its first time after, whether the difference of the pair jumps there)."""
    order = np.lexsort((host, instance))
    shared = {}
    begins = np.flatnonzero(np.concatenate([[True], np.diff(instance[order]) != 0]))
    for rows in np.split(order, begins[1:]):
        for a, b in zip(rows, rows[1:]):
            shared.setdefault((host[a], host[b]), []).append((ends[a], ends[b]))
    for pair, series in shared.items():
        times = np.array(sorted(series)).T
        if times.shape[1] < 2 * FEWEST:
            continue
        difference = times[1] - times[0]
        position, height = step_of(difference)
        left = np.concatenate([difference[:position] - np.median(difference[:position]), difference[position:] - np.median(difference[position:])])
        jumps = abs(height) > max(JUMP, 10 * np.median(np.abs(left)))
        for one, time in zip(pair, times):
            yield one, time[position - 1], time[position], jumps


def jumped(instance, host, ends):
    """(host, last time before, first time after) of the clock that jumps, or None: most of its pairs do, and more than those of any other."""
    counts, times = {}, {}
    for one, before, after, jumps in pair_jumps(instance, host, ends):
        pairs = counts.setdefault(one, [0, 0])
        pairs[0] += jumps
        pairs[1] += 1
        if jumps:
            times.setdefault(one, []).append((before, after))
    found = sorted(((jumps / pairs, jumps, one) for one, (jumps, pairs) in counts.items() if jumps), key=lambda row: (-row[0], -row[1], row[2]))
    if not found or found[0][0] <= 0.5:
        return None
    before, after = np.array(times[found[0][2]]).T
    return found[0][2], before.max(), after.min()


def moment_of_jump(events, host, before, after):
    """A clock that jumps ahead leaves a time at which nothing on its host begins or ends: the end of the longest one."""
    rows = events.host[events.rank] == host
    bounds = np.sort(np.concatenate([events.start[rows], events.end[rows]]))
    bounds = bounds[(bounds >= before - 1) & (bounds <= after + 1)]
    return float(bounds[np.argmax(np.diff(bounds)) + 1])


def anchors(events, rows):
    """The rows of the last instances of each group, name and step."""
    rows = rows[np.lexsort((-events.seq[rows], events.step[rows], events.name[rows], events.rank[rows]))]
    same = (np.diff(events.rank[rows]) == 0) & (np.diff(events.name[rows]) == 0) & (np.diff(events.step[rows]) == 0)
    begins = np.flatnonzero(np.concatenate([[True], ~same]))
    within = np.arange(len(rows)) - np.repeat(begins, np.diff(np.concatenate([begins, [len(rows)]])))
    return rows[within < ANCHORS]


def observations(events, trusted):
    """(instance, host, end, class): one row per host of an instance, its ranks' median."""
    codes = [code for code, name in enumerate(events.names) if name in trusted]
    rows = np.flatnonzero(np.isin(events.kind, (COLLECTIVE, P2P)) & np.isin(events.name, codes))
    rows = anchors(events, rows)
    host = events.host[events.rank[rows]]
    key = (events.group[rows].astype(np.int64) << 40) + events.seq[rows]
    order = np.lexsort((events.end[rows], host, key))
    rows, host, key = rows[order], host[order], key[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(key) != 0) | (np.diff(host) != 0)]))
    sizes = np.diff(np.concatenate([begins, [len(rows)]]))
    middle = rows[begins + (sizes - 1) // 2], rows[begins + sizes // 2]
    ends = (events.end[middle[0]] + events.end[middle[1]]) / 2
    _, instance = np.unique(key[begins], return_inverse=True)
    members = np.bincount(instance)
    kept = members[instance] > 1
    return instance[kept], host[begins][kept], ends[kept], events.name[rows[begins]][kept]


def islands(instance, host, hosts):
    """The number of the connected set of each host."""
    parent = np.arange(hosts)
    first = {}
    for i, h in zip(instance.tolist(), host.tolist()):
        other = first.setdefault(i, h)
        a, b = h, other
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for h in range(hosts):
        while parent[h] != parent[parent[h]]:
            parent[h] = parent[parent[h]]
    return parent


def added(size, rows, columns, values):
    """A matrix with these values added up."""
    return np.bincount(rows * size + columns, values, size * size).reshape(size, size)


def solve(instance, host, ends, centred, weights, hosts):
    """The normal equations of offsets and rates; the moment of each instance is eliminated. Columns: offset and rate of each host."""
    count, size = int(instance.max()) + 1, 2 * hosts
    total = np.bincount(instance, weights, count)
    values = ((0, np.ones_like(ends)), (1, centred))
    moments = np.bincount(instance, weights * ends, count) / total
    normal, right = np.zeros((size, size)), np.zeros(size)
    for a, x in values:
        right += np.bincount(2 * host + a, weights * x * (ends - moments[instance]), size)
        for b, y in values:
            normal += added(size, 2 * host + a, 2 * host + b, weights * x * y)
    order = np.argsort(instance, kind="stable")
    begins = np.searchsorted(instance[order], np.arange(count))
    pairs = np.flatnonzero(np.bincount(instance) == 2)
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        one, two = order[begins[pairs] + i], order[begins[pairs] + j]
        for a, x in values:
            for b, y in values:
                normal -= added(size, 2 * host[one] + a, 2 * host[two] + b, weights[one] * x[one] * weights[two] * y[two] / total[pairs])
    more = np.flatnonzero(np.bincount(instance) > 2)
    for chunk in np.split(more, range(MOMENTS, len(more), MOMENTS)) if len(more) else ():
        place = np.full(count, -1)
        place[chunk] = np.arange(len(chunk))
        rows = np.flatnonzero(place[instance] >= 0)
        part = np.zeros((len(chunk), size))
        for a, x in values:
            np.add.at(part, (place[instance[rows]], 2 * host[rows] + a), weights[rows] * x[rows])
        normal -= (part / total[chunk, None]).T @ part
    return normal, right


def residuals(instance, host, ends, centred, weights, offset, rate):
    left = ends - offset[host] - rate[host] * centred
    moment = np.bincount(instance, weights * left) / np.bincount(instance, weights)
    return left - moment[instance]


def spread(values):
    return max(100.0, 1.4826 * float(np.median(np.abs(values)))) if len(values) else 100.0


def fit(instance, host, ends, classes, hosts, fixed, middle, reference):
    """(offset, rate, residuals). `fixed`: the first host of each island."""
    centred = ends - middle
    moment = ends - reference[instance]  # small numbers: an instance's own moment is eliminated anyway
    weights = np.ones_like(ends)
    offset, rate = np.zeros(hosts), np.zeros(hosts)
    sigma = np.full(classes.max() + 1, 1e6)
    for _ in range(ROUNDS):
        normal, right = solve(instance, host, moment, centred, weights, hosts)
        normal[np.arange(1, 2 * hosts, 2), np.arange(1, 2 * hosts, 2)] += 1 / PRIOR**2
        for h in np.unique(fixed):
            normal[2 * h, 2 * h] += 1e6
        normal[np.arange(0, 2 * hosts, 2), np.arange(0, 2 * hosts, 2)] += 1e-18  # hosts without observations
        scale = 1 / np.sqrt(np.diag(normal))
        solution = scale * np.linalg.solve(normal * scale[:, None] * scale, right * scale)
        offset, rate = solution[0::2], solution[1::2]
        left = residuals(instance, host, moment, centred, weights, offset, rate)
        sigma = np.array([spread(left[classes == c]) for c in range(len(sigma))])
        own = sigma[classes]
        weights = np.minimum(1, HUBER * own / np.maximum(np.abs(left), 1e-9)) / own**2
    return offset, rate, left


def align(events, trusted=TRUSTED, seed=0):
    hosts = int(events.host.max()) + 1
    instance, host, ends, classes = observations(events, trusted)
    if not len(instance):
        nothing = np.zeros(hosts)
        return Alignment(nothing, nothing, 0.0, np.arange(hosts), nothing, nothing + np.inf, nothing, np.ones(hosts, bool))
    _, instance = np.unique(instance, return_inverse=True)
    jumps = {}
    if jump := jumped(instance, host, ends):
        at = moment_of_jump(events, *jump)
        jumps[jump[0]] = at, hosts
        host = np.where((host == jump[0]) & (ends >= at), hosts, host)
        hosts += 1
    island = islands(instance, host, hosts)
    middle = (ends.min() + ends.max()) / 2
    reference = np.bincount(instance, ends) / np.bincount(instance)
    offset, rate, left = fit(instance, host, ends, classes, hosts, island, middle, reference)
    used = np.bincount(host, minlength=hosts)
    residual, tail = (np.array([np.percentile(np.abs(left[host == h]), part) if used[h] else np.inf for h in range(hosts)]) for part in (50, 95))
    half = np.random.default_rng(seed).permutation(instance.max() + 1)[instance] % 2 == 0
    found = []
    for chosen in (half, ~half):
        _, renumbered = np.unique(instance[chosen], return_inverse=True)
        part = np.bincount(renumbered, ends[chosen]) / np.bincount(renumbered)
        found.append(fit(renumbered, host[chosen], ends[chosen], classes[chosen], hosts, island, middle, part)[:2])
    window = np.linspace(ends.min(), ends.max(), 21) - middle
    difference = np.abs((found[0][0] - found[1][0])[:, None] + (found[0][1] - found[1][1])[:, None] * window)
    alone = np.bincount(island, minlength=hosts)[island] == 1
    refused = (used < FEWEST) | (residual > UNUSABLE) | alone
    return Alignment(offset, rate, middle, island, residual, np.percentile(difference, 95, axis=1) + tail, used, refused, jumps)
