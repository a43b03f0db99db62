"""The checks by part, most informative first. A new check is one function in one of these files."""

from . import accuracy, cost, energy, first, judging, later, memory, neighbours, records, sampling, subscribers, survival, timers

PARTS = {
    "part1": [*first.CHECKS.all, *records.CHECKS.all, *survival.CHECKS.all, *sampling.CHECKS.all, *energy.CHECKS.all, *neighbours.CHECKS.all, *subscribers.CHECKS.all],
    "part2": cost.CHECKS.all,
    "part3": [*accuracy.CHECKS.all, *judging.CHECKS.all, *memory.CHECKS.all, *timers.CHECKS.all],
    "part4": later.CHECKS.all,
}
