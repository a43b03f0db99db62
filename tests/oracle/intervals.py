"""Unions of half-open integer intervals [start, end): all the algebra that the oracle needs.

Written to be obviously correct: sort, then sweep. An interval of length 0 covers nothing.
"""


def union(intervals):
    """Disjoint, sorted, non-touching intervals that cover the same points."""
    out = []
    for start, end in sorted((s, e) for s, e in intervals if e > s):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def overlap(a, b):
    """Length of the time covered by both: what the two unions have in common, by inclusion and exclusion."""
    return length(a) + length(b) - length([*a, *b])


def uncovered(a, b):
    """Length of the time covered by `a` and not by `b`."""
    return length([*a, *b]) - length(b)


def holes(intervals):
    """The stretches between the first start and the last end that nothing covers."""
    covered = union(intervals)
    return [(left[1], right[0]) for left, right in zip(covered, covered[1:])]
