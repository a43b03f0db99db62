"""Programs in which something takes most of the host's time, or of a stream's, and would gain little: what it hides takes nearly as long.

As in families.py, each family is a function of Case. A share of the critical path is no gain here.
"""

from dataclasses import replace

from families import ALLOCATION, COMMUNICATION, INPUT, MS, TRANSFER, US, collective, gemm, launches_one_by_one, layers, op


def kernels_of(case, total):
    """Products that take `total` ns together."""
    found = [gemm(case, 60 * US, 250 * US) for _ in range(case.count(6, 14))]
    factor = total / sum(kernel.alone for kernel in found)
    return [replace(kernel, alone=round(kernel.alone * factor)) for kernel in found]


def allocates_ahead(case):
    """Allocations before each launch, of a host that just keeps ahead of the device."""
    count, cost = case.count(5, 15), case.between(150 * US, 800 * US)
    total = count * cost
    kernels = kernels_of(case, total * case.between(0.8, 1.15))

    def step(host, _):
        for number in range(count):
            if case.has("churn", ALLOCATION):
                yield from host.allocate(cost)
            for kernel in kernels[number::count]:
                yield from op(host, "aten::mm", kernel)

    return step


def loads_ahead(case):
    """A loader in the training process, while the device works on the batch before."""
    load = case.between(5 * MS, 20 * MS)
    kernels = kernels_of(case, load * case.between(0.8, 1.15))

    def step(host, _):
        def loading():
            yield from host.work(load if case.has("loader", INPUT) else 0)

        yield from host.span("range", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", loading())
        yield from layers(case, host, kernels)

    return step


def loads_then_launches(case):
    """A loader in the main thread before launching that keeps the device half busy: what a graph saves is not idle time alone."""
    load, count, cost = case.between(3 * MS, 20 * MS), case.count(150, 400), case.between(20 * US, 50 * US)
    kernels = [replace(kernel, alone=round(cost * case.between(0.4, 0.95))) for kernel in [gemm(case)] * count]

    def step(host, _):
        def loading():
            yield from host.work(load if case.has("loader", INPUT) else 0)

        yield from host.span("range", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", loading())
        yield from launches_one_by_one(case, host, kernels, cost, "aten::mm")

    return step


def copies_ahead(case):
    """Copies on a stream of their own, for which the kernels of the next step wait."""
    size = round(case.between(1e8, 6e8))
    kernels = kernels_of(case, size / 55 * case.between(0.8, 1.15))

    def step(host, _):
        copied = None
        if case.has("exposed copy", TRANSFER):
            copied = yield from host.copy("HtoD", size, stream=8)
        first = host.machine.last.get(7)
        yield from host.launch(kernels[0], 7, (copied.done,) if copied and first else ())
        yield from layers(case, host, kernels[1:])

    return step


def reduces_beside(case):
    """Collectives during the compute of the same step, nearly as long."""
    kernels = kernels_of(case, case.between(4 * MS, 15 * MS))
    work = sum(kernel.alone for kernel in kernels)
    # It takes nothing from the kernels: how much it slows them is not asked here.
    reduce = replace(collective(case, work * case.between(0.85, 1.1), work * 1.1), fill=0.0, bandwidth=0.0)

    def step(host, _):
        yield from layers(case, host, kernels[:1])
        if case.has("collective", COMMUNICATION):
            yield from host.launch(reduce, 19, (host.machine.last[7].done,))
        yield from layers(case, host, kernels[1:])
        yield from host.launch(kernels[0], 7, (host.machine.last[19].done,) if case.has("collective", COMMUNICATION) else ())

    return step


NEAR_TIES = {each.__name__: each for each in (allocates_ahead, loads_ahead, loads_then_launches, copies_ahead, reduces_beside)}
