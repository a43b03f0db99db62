"""Families of programs with known bottlenecks: each program can run again without one of its causes.

A family is a function of Case that yields steps as a host thread. `case.has(CAUSE)` returns whether the cause is active in this
run. `case.causes` lists the causes that can be removed, each under the verdict that names it. Sizes come from the case's random
numbers, which are the same in all runs of a seed.
"""

import functools
from dataclasses import dataclass, field

from machine import Kernel

US, MS = 1_000, 1_000_000

INPUT, LAUNCH, SYNC = "input-bound", "launch-bound", "synchronisation-bound"
TRANSFER, COMMUNICATION, ALLOCATION, HOST = "transfer-bound", "communication-bound", "allocation-bound", "host-bound (other)"


@dataclass
class Case:
    seed: int
    size: object  # random.Random for sizes
    without: frozenset = frozenset()
    causes: dict = field(default_factory=dict)  # cause -> verdict
    steps: int = 8
    startup: bool = False
    unnamed: bool = False  # nothing tells what its kernels do: abstaining is as good as the truth
    only: frozenset = frozenset()  # the labels that are right, where shares of steps do not say
    step_name: str = "ProfilerStep#{}"  # of the range around a step; None without one
    before_step: object = None  # what the host thread does before each step
    after_step: object = None  # and after it, outside its range
    before_run: object = None  # and before the first one
    after_run: object = None  # and after the last one
    whole: bool = False  # whether the truth is about all of the run, and not about what follows the first step
    together: dict = field(default_factory=dict)  # id of a finding -> the causes that its change removes together
    unit_ns: int = 0  # of a program that waits: about the length of what it does between two waits,
    unit_limits: frozenset = frozenset()  # and the labels that are right for it

    def has(self, cause, verdict):
        self.causes[cause] = verdict
        return cause not in self.without

    def between(self, low, high):
        return low * (high / low) ** self.size.random()

    def count(self, low, high):
        return self.size.randint(low, high)


def gemm(case, low=80 * US, high=900 * US):
    tile = case.size.choice(["128x128x64_warpgroupsize1x1x1", "128x256x64_warpgroupsize2x1x1", "256x128_64x4_2x1_h_bz_coopA"])
    return Kernel(f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize{tile}_execute_segment_k_off_kernel__5x_cublas", round(case.between(low, high)),
                  "compute", 1.0, 0.35, (case.count(2, 8) * 132, 1, 1), (384, 1, 1), 168, 200_000)


def skinny_gemm(case):
    """A product of a few rows: its time is that of reading the weights, whatever its name says."""
    name = case.size.choice(["nvjet_sm90_tst_64x8_64x16_1x4_h_bz_TNT", "nvjet_sm90_tst_128x16_64x11_1x2_h_bz_TNT",
                             "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(cutlass::Params)",
                             "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4, 4, false, false>(int, int)"])
    return Kernel(name, round(case.between(12 * US, 60 * US)), "memory", 0.9, 0.85, (case.count(1, 4) * 132, 1, 1), (128, 1, 1), 128, 100_000)


def elementwise(case, low=30 * US, high=400 * US):
    what = case.size.choice(["CUDAFunctor_add<float>", "AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", "BinaryFunctor<float>"])
    return Kernel(f"void at::native::vectorized_elementwise_kernel<4, at::native::{what}, std::array<char*, 3ul> >(int, at::native::{what})",
                  round(case.between(low, high)), "memory", 0.9, 0.92, (case.count(20_000, 90_000), 1, 1), (128, 1, 1), 24, 0)


def tiny(case, low=1_500, high=4_000):
    return Kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
                  round(case.between(low, high)), "underfilled", 0.05, 0.02, (case.count(8, 32), 1, 1), (128, 1, 1), 24, 0)


def small_grid(case, blocks, low=40 * US, high=300 * US):
    return Kernel("void my_solver_kernel<float>(float const*, float*, int)", round(case.between(low, high)), "underfilled",
                  blocks / 132, 0.02, (blocks, 1, 1), (256, 1, 1), 64, 8_192)


def collective(case, low, high):
    return Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", round(case.between(low, high)), "communication",
                  0.15, 0.1, (24, 1, 1), (544, 1, 1), 96, 0, True)


def op(host, name, *launches):
    """An operator of the framework that launches these kernels."""

    def body():
        yield from host.work(3 * US)
        for kernel in launches:
            yield from host.launch(kernel)

    return host.span("op", name, body())


def layers(case, host, kernels, name="aten::mm"):
    for kernel in kernels:
        yield from op(host, "aten::add_" if "elementwise" in kernel.name else name, kernel)


def compute_bound(case):
    kernels = [gemm(case) for _ in range(case.count(20, 50))]

    def step(host, _):
        yield from layers(case, host, kernels)

    return step


def memory_bound(case):
    kernels = [elementwise(case) for _ in range(case.count(20, 50))]

    def step(host, _):
        yield from layers(case, host, kernels)

    return step


def decode(case):
    kernels = [skinny_gemm(case) for _ in range(case.count(60, 150))]

    def step(host, _):
        yield from host.graph(kernels)
        yield from host.work(20 * US)

    return step


def launches_one_by_one(case, host, kernels, cost, name):
    """Each kernel in an operator of its own that takes `cost` ns; without LAUNCH, all in a graph."""
    if not case.has("small kernels", LAUNCH):
        yield from host.graph(kernels)
        return
    for kernel in kernels:
        def body(kernel=kernel):
            yield from host.work(cost)
            yield from host.launch(kernel)
        yield from host.span("op", name, body())


def launch_bound(case):
    count, cost = case.count(100, 300), case.between(4 * US, 12 * US)
    kernels = [tiny(case) for _ in range(count)]

    def step(host, _):
        yield from launches_one_by_one(case, host, kernels, cost, "aten::add")

    return step


def input_bound(case):
    load = case.between(5 * MS, 30 * MS)
    kernels = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(8, 20))]
    size = round(case.between(4e6, 6e7))

    def step(host, _):
        present = case.has("loader", INPUT)

        def loading():
            yield from host.work(load if present else 0)

        yield from host.span("range", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", loading())
        yield from host.copy("HtoD", size, stream=7 if case.has("exposed copy", TRANSFER) else 8)
        yield from layers(case, host, kernels)
        yield from host.synchronise()

    return step


def syncs(case):
    count = case.count(8, 40)
    groups = [[gemm(case, 30 * US, 120 * US) for _ in range(case.count(1, 3))] for _ in range(count)]
    cost = case.between(20 * US, 80 * US)

    def step(host, _):
        present = case.has("item", SYNC)
        for kernels in groups:
            yield from layers(case, host, kernels)
            if present:
                def read():
                    yield from host.copy("DtoH", 4)
                    yield from host.synchronise()
                yield from host.span("op", "aten::item", read())
            yield from host.work(cost)

    return step


def pageable_copies(case):
    size = round(case.between(5e7, 4e8))
    kernels = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(5, 20))]

    def step(host, _):
        pageable = case.has("pageable", TRANSFER)
        if pageable:
            yield from host.copy("HtoD", size, pinned=False)
        else:
            yield from host.copy("HtoD", size, stream=8)
        yield from layers(case, host, kernels)

    return step


def exposed_copies(case):
    size = round(case.between(2e8, 1e9))
    kernels = [gemm(case, 100 * US, 300 * US) for _ in range(case.count(5, 15))]

    def step(host, _):
        exposed = case.has("same stream", TRANSFER)
        yield from host.copy("HtoD", size, stream=7 if exposed else 8)
        yield from layers(case, host, kernels)

    return step


def hidden_copies(case):
    kernels = [gemm(case, 200 * US, 600 * US) for _ in range(case.count(20, 40))]
    size = round(sum(kernel.alone for kernel in kernels) * 55 * 0.6)

    def step(host, _):
        yield from host.copy("HtoD", size, stream=8)
        yield from layers(case, host, kernels)

    return step


def underfilled(case):
    kernels = [small_grid(case, case.count(4, 60)) for _ in range(case.count(20, 60))]

    def step(host, _):
        yield from layers(case, host, kernels, "my_solver::step")

    return step


def many_streams(case):
    """Each kernel is small, all of them together fill the device."""
    streams = case.count(8, 10)
    name = case.size.choice(["void my_batched_kernel<float>(float const*, float*, int)", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_execute_kernel"])
    case.unnamed = name.startswith("void my_")
    kernels = [Kernel(name, round(case.between(200 * US, 500 * US)), "compute", 16 / 132, 0.05,
                      (16, 1, 1), (1024, 1, 1), 64, 100_000) for _ in range(case.count(8, 16))]

    def step(host, _):
        for kernel in kernels:
            for stream in range(20, 20 + streams):
                yield from host.launch(kernel, stream, ns=3_000)

    return step


def allocations(case):
    count, cost = case.count(4, 12), case.between(200 * US, 1.5 * MS)
    kernels = [gemm(case, 60 * US, 250 * US) for _ in range(count)]

    def step(host, _):
        present = case.has("churn", ALLOCATION)
        for kernel in kernels:
            if present:
                yield from host.allocate(cost)
            yield from op(host, "aten::mm", kernel)
            if present:
                yield from host.free(cost / 3)

    return step


def communication(case, hidden=False):
    kernels = [gemm(case, 100 * US, 300 * US) for _ in range(case.count(10, 30))]
    work = sum(kernel.alone for kernel in kernels)
    share = case.between(0.2, 0.5) if hidden else case.between(0.6, 2.5)
    reduce, update = collective(case, work * share, work * share * 1.1), elementwise(case, 20 * US, 21 * US)

    def step(host, _):
        if hidden:
            yield from layers(case, host, kernels[:2])
            yield from host.launch(reduce, 19, (host.machine.last[7].done,))
            yield from layers(case, host, kernels[2:])
            return
        exposed = case.has("collective", COMMUNICATION)
        yield from layers(case, host, kernels)
        if exposed:
            gradients = host.machine.last[7].done
            reduced = yield from host.launch(reduce, 19, (gradients,))
            yield from host.launch(update, 7, (reduced.done,))

    return step


def host_code(case):
    cost = case.between(3 * MS, 25 * MS)
    kernels = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(5, 20))]

    def step(host, _):
        present = case.has("python", HOST)
        yield from layers(case, host, kernels)
        yield from host.synchronise()

        def body():
            yield from host.work(cost if present else 20 * US)

        yield from host.span("python", "train.py(41): update_metrics", body())

    return step


def start_up(case):  # seconds before the first step; the steps are compute-bound
    case.startup = True
    return compute_bound(case)


def misnamed(case):
    """Names that hold the words of loaders and products, and mean neither."""
    cost = case.between(3 * MS, 15 * MS)
    kernels = [elementwise(case, 50 * US, 200 * US) for _ in range(case.count(10, 30))]
    name = case.size.choice(["modality_encoder", "pre_forward_prefetch", "dataloader_free_path", "next_token_sampler"])

    def step(host, _):
        present = case.has("host code", HOST)
        yield from layers(case, host, kernels)
        yield from host.synchronise()

        def body():
            yield from host.work(cost if present else 20 * US)

        yield from host.span("range", name, body())

    return step


def graphs(case):
    kernels = [gemm(case, 20 * US, 80 * US) if i % 3 else elementwise(case, 5 * US, 20 * US) for i in range(case.count(60, 200))]

    def step(host, _):
        yield from host.graph(kernels)

    return step


def two_causes(case):
    """Input and copies of about the same cost: neither is the single cause."""
    load = case.between(4 * MS, 10 * MS)
    size = round(load * 11 * case.between(0.7, 1.4))
    kernels = [gemm(case, 50 * US, 200 * US) for _ in range(case.count(5, 15))]

    def step(host, _):
        loader, pageable = case.has("loader", INPUT), case.has("pageable", TRANSFER)

        def loading():
            yield from host.work(load if loader else 0)

        yield from host.span("range", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", loading())
        yield from host.copy("HtoD", size, pinned=not pageable)
        yield from layers(case, host, kernels)
        yield from host.synchronise()

    return step


def python_frames(case):
    """A recorder of Python stacks: six frames around each operator cost more than the operator."""
    depth = case.count(4, 8)
    kernels = [gemm(case, 15 * US, 50 * US) for _ in range(case.count(30, 80))]

    def framed(host, left, kernel):
        if left == 0:
            yield from op(host, "aten::mm", kernel)
        else:
            yield from host.span("python", f"model.py({10 * left}): forward", framed(host, left - 1, kernel))

    def step(host, _):
        for kernel in kernels:
            yield from framed(host, depth, kernel)

    return step


def first_call(case):
    """The first step compiles and loads for seconds; the others are bound by memory."""
    slow = case.between(500 * MS, 20_000 * MS)
    kernels = [elementwise(case) for _ in range(case.count(20, 40))]

    def step(host, number):
        if number == 0:
            yield from host.work(slow)
            yield from host.call("cudaHostAlloc", case.between(10 * MS, 300 * MS))
        yield from layers(case, host, kernels)

    return step


def barely_used(case):
    """A kernel or two in seconds: a look at a notebook, not at a program that uses a GPU."""
    case.only = frozenset({"cannot tell"})
    pause = case.between(1_000 * MS, 10_000 * MS)
    kernel = gemm(case, 50 * US, 500 * US)

    def step(host, number):
        if number == 0:
            yield from host.work(pause)
            yield from host.launch(kernel)
        else:
            yield from host.work(1 * US)

    return step


hidden_communication = functools.partial(communication, hidden=True)
hidden_communication.__name__ = "hidden_communication"
FAMILIES = {each.__name__: each for each in (
    compute_bound, memory_bound, decode, launch_bound, input_bound, syncs, pageable_copies, exposed_copies, hidden_copies, underfilled, many_streams,
    allocations, communication, hidden_communication, host_code, start_up, first_call, barely_used, python_frames, misnamed, graphs, two_causes)}
