"""Part 4: reserved for data that later features need. Each check says to which feature it belongs."""

from harness.check import Checks

CHECKS = Checks("part4")


@CHECKS.add("pairs of recordings with and without one change, as truth for predictions")
def pairs_for_what_if(case):
    case.skip("comes with predictions of a change (what-if)")


@CHECKS.add("counters of single kernels, beside ncu's")
def kernel_counters(case):
    case.skip("comes with counters of kernels")


@CHECKS.add("PC samples of single kernels, beside ncu's source view")
def pc_samples(case):
    case.skip("comes with PC sampling")
