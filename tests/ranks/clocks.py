"""Recorded times: what the clocks of the hosts and GPUs make of true times.

One clock per host: an offset, a rate, for one host a jump in the middle of the job, for another a slow random walk. Device times
also have a constant error of some microseconds per GPU. A recorded clock never runs backwards.
"""

import numpy as np

KNOTS = 400  # of the random walk of a noisy clock, over the job


class Recorded:
    def __init__(self, job, seed):
        source = np.random.default_rng([seed, 2])
        self.job, clocks = job, job.clocks
        self.offset = clocks.offset * source.standard_normal(job.hosts)
        self.rate = clocks.rate_ppm * 1e-6 * source.standard_normal(job.hosts)
        self.gpu = clocks.gpu * source.standard_normal(job.world)
        walk = np.cumsum(source.standard_normal(KNOTS))
        self.walk = walk / np.abs(walk).max()

    def span(self, run):
        bounds = run.boundaries()
        return bounds[0], bounds[-1]

    def error(self, host, times, span):
        """Recorded minus true, ns."""
        first, last = span
        error = self.offset[host] + self.rate[host] * (times - (first + last) / 2)
        for name, value in (("jump", self.job.clocks.jump), ("noisy", self.job.clocks.noisy)):
            if value and value[0] == host:
                if name == "jump":
                    error = error + np.where(times >= (first + last) / 2, value[1], 0)
                else:
                    error = error + value[1] * np.interp(times, np.linspace(first, last, KNOTS), self.walk)
        return error

    def host_times(self, rank, times, span):
        return times + self.error(self.job.host_of(rank), times, span)

    def device_times(self, rank, times, span):
        return self.host_times(rank, times, span) + self.gpu[rank]

    def truth(self, run):
        first, last = self.span(run)
        rows = []
        for host in range(self.job.hosts):
            row = {"host": host, "offset_ns": round(float(self.offset[host]), 1), "rate_ppm": round(float(self.rate[host] * 1e6), 4)}
            for name in ("jump", "noisy"):
                value = getattr(self.job.clocks, name)
                if value and value[0] == host:
                    row[f"{name}_ns"] = value[1]
            rows.append(row)
        return {"middle_ns": round((first + last) / 2), "window_ns": round(last - first), "hosts": rows, "gpu_ns": [round(float(v), 1) for v in self.gpu]}
