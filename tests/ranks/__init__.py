"""Training jobs of many ranks, simulated with known faults, and the files that a profiler would write for each rank."""
