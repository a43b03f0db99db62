"""Programs of one rank of a job: collectives in which it waits for a rank that comes late, and others in which nothing waits.

As in families.py, each family is a function of Case. The kernel of a collective lasts from the arrival of this rank until the transfer is over;
how long a late rank makes it wait is drawn here and in no recording. Sizes are recorded, as torch.profiler does.
"""

from dataclasses import replace

from families import COMMUNICATION, MS, US, Kernel, elementwise, gemm, layers

LATE, TRANSFER = "late rank", "collective"
NAMES = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "all_to_allv": "SendRecv", "send": "SendRecv", "recv": "SendRecv"}


def transfer_ns(case, kind, size):
    """Of `size` bytes: a start, and the rate of the link, which short messages do not reach."""
    return case.start_ns + size * (2 if kind == "allreduce" else 1) / case.rate * (1 + 2e6 / (size + 1e6))


def collective(case, kind, size, wait, stretch=1.0):
    size -= size % 2
    message = {"Collective name": kind, "In msg nelems": size // 2, "Out msg nelems": size // 2, "dtype": "BFloat16", "Group size": case.ranks,
               "Process Group Name": "0"}
    if kind in ("send", "recv"):
        message |= {"Dst Rank" if kind == "send" else "Src Rank": 1}
    took = transfer_ns(case, kind, size) * stretch if case.has(TRANSFER, COMMUNICATION) else 1
    took += wait if wait and case.has(LATE, COMMUNICATION) else 0
    return Kernel(f"ncclDevKernel_{NAMES[kind]}(ncclDevKernelArgsStorage<4096ul>)", max(1, round(took)), "communication", 0.15, 0.1,
                  (24, 1, 1), (544, 1, 1), 96, 0, True, message)


def link(case, slow=False):
    case.ranks = case.size.choice([16, 32, 64]) if slow else case.size.choice([8, 16, 64])
    case.rate = case.between(0.8, 3) if slow else case.between(25, 150) if case.ranks > 8 else case.between(100, 350)
    case.start_ns = case.between(10 * US, 40 * US)


def late_rank(case, late=True, always=False, slow=False):
    """DDP: buckets are reduced during the backward pass. Another rank is late for the last one, for one of them, or in some of the steps."""
    link(case, slow)
    count = 1 if always else case.count(2, 6)
    equal = case.size.random() < 0.5
    first = round(case.between(4e6, 6e7))
    sizes = [first if equal else round(case.between(2e6, 8e7)) for _ in range(count)]
    parts = [[gemm(case, 60 * US, 200 * US) for _ in range(case.count(2, 5))] for _ in range(count)]
    update = elementwise(case, 20 * US, 200 * US)
    delay, where, often = case.between(1 * MS, 30 * MS), case.size.randrange(count), 1.0 if always else case.size.choice([1.0, 0.5])
    if count > 1 and equal is False and often == 1.0:
        where = count - 1
    stretch = [1.0 if late else case.between(1.0, 1.6) for _ in range(count)]  # beside kernels that want the same bandwidth

    def step(host, _):
        reduced = None
        for number, kernels in enumerate(parts):
            yield from layers(case, host, kernels)
            wait = delay if late and number == where and host.machine.chance.random() < often else 0
            reduce = collective(case, "allreduce", sizes[number], wait, stretch[number])
            reduced = yield from host.launch(reduce, 19, (host.machine.last[7].done,))
        yield from host.launch(update, 7, (reduced.done,))

    return step


def steady_ranks(case):
    return late_rank(case, late=False)


def always_late(case):
    """Each collective waits, and there is no other: no recording of one rank tells that from a slow transfer."""
    return late_rank(case, always=True)


def slow_network(case):
    return late_rank(case, late=False, always=True, slow=True)


def uneven_experts(case):
    """A mixture of experts: the rank with most tokens comes last, in some layers another one, in some this one."""
    link(case)
    layers_of_step = [[gemm(case, 60 * US, 250 * US) for _ in range(case.count(2, 4))] for _ in range(case.count(3, 8))]
    size, delay = round(case.between(4e6, 4e7)), case.between(500 * US, 8 * MS)

    def step(host, _):
        chance = host.machine.chance
        for kernels in layers_of_step:
            yield from layers(case, host, kernels)
            wait = 0 if chance.random() < 0.3 else delay * chance.uniform(0.3, 1.7)
            tokens = round(size * chance.uniform(0.6, 1.4))
            done = yield from host.launch(collective(case, "all_to_allv", tokens, wait), 19, (host.machine.last[7].done,))
            yield from host.launch(replace(kernels[0], name=kernels[0].name), 7, (done.done,))

    return step


def pipeline_bubbles(case):
    """A stage that receives activations for each micro-batch: for the first ones it waits until the stages before it have them."""
    link(case)
    batches, size = case.count(4, 8), round(case.between(4e6, 6e7))
    kernels, bubble = [gemm(case, 100 * US, 400 * US) for _ in range(case.count(3, 8))], case.between(2 * MS, 20 * MS)

    def step(host, _):
        for number in range(batches):
            wait = bubble if number == 0 else 0
            done = yield from host.launch(collective(case, "recv", size, wait), 19, (host.machine.last[7].done,) if 7 in host.machine.last else ())
            yield from host.launch(kernels[0], 7, (done.done,))
            yield from layers(case, host, kernels[1:])
            yield from host.launch(collective(case, "send", size, 0), 20, (host.machine.last[7].done,))

    return step


LATE_RANKS = {each.__name__: each for each in (late_rank, uneven_experts, pipeline_bubbles)}
ON_TIME = {each.__name__: each for each in (steady_ranks, slow_network)}
PEERS = LATE_RANKS | ON_TIME | {"always_late": always_late}
