"""Sampled commands that take longer where the machine is busy.

How many samples come in a given time depends on the CPU time that the sampler gets, and a command cannot see them come. So a test
that needs samples runs the command again, longer, until they are there; what it claims about them stays as it is.
"""

LENGTHS = (1, 4, 16)


def lengthened(run, enough):
    """Return what `run(length)` returned, for the first of LENGTHS with which `enough` of it holds, or else for the last."""
    for length in LENGTHS:
        found = run(length)
        if enough(found):
            break
    return found
