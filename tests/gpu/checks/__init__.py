"""The checks by part, most telling first. A new check is a function in one of these files; nothing else."""

from . import accuracy, cost, judging, later, neighbours, records, sampling, survival, timers

PARTS = {
    "part1": [*records.CHECKS.all, *survival.CHECKS.all, *sampling.CHECKS.all, *neighbours.CHECKS.all],
    "part2": cost.CHECKS.all,
    "part3": [*accuracy.CHECKS.all, *judging.CHECKS.all, *timers.CHECKS.all],
    "part4": later.CHECKS.all,
}
