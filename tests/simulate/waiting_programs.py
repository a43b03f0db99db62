"""Programs that a check or a verdict may take for what they are not.

As in families.py, each family is a function of Case. Programs that wait for requests or for frames of a camera have no bottleneck that a
change of the program would remove; a recording shows their wait as a Python frame, as a call of the operating system, as a thread that is off
the CPU, or not at all. Other programs have ranges that sound like a loader, or submitted work that waits for a good reason.
"""

from families import ALLOCATION, COMMUNICATION, FAMILIES, HOST, INPUT, LAUNCH, MS, SYNC, TRANSFER, US, elementwise, gemm, layers, op, tiny

PACED, NO_LOAD = "paced", "no load"
ANY = frozenset({"cannot tell", "mixed", "compute-bound", ALLOCATION, COMMUNICATION, HOST, INPUT, LAUNCH, SYNC, TRANSFER})
WAITS_FOR_REQUESTS = (None, None, "queue.py(154): get", "selectors.py(451): select", "threading.py(589): wait", "zmq/sugar/poll.py(106): poll",
                      "asyncio/base_events.py(1910): _run_once", "<built-in method acquire of _thread.lock object at 0x7f10a2c3d480>",
                      "multiprocessing/connection.py(389): _recv")
WAITS_FOR_FRAMES = ("<built-in function sleep>", "selectors.py(451): select", "threading.py(589): wait", "queue.py(154): get")


def work_of_a_unit(case):
    """The kernels of one request or frame. An answer may be about what limits those, but then its gains are gains of a unit."""
    kind = case.size.choice(["compute", "memory", "tiny"])
    if kind == "compute":
        kernels, case.unit_limits = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(5, 40))], frozenset({"compute-bound"})
    elif kind == "memory":
        kernels, case.unit_limits = [elementwise(case, 50 * US, 300 * US) for _ in range(case.count(5, 40))], frozenset({"memory-bandwidth-bound"})
    else:
        kernels, case.unit_limits = [tiny(case) for _ in range(case.count(20, 120))], frozenset({LAUNCH, "underfilled"})
    case.unit_ns = sum(max(kernel.alone, 8 * US) for kernel in kernels)
    return kernels


def serve(case, kernels):
    size_in, size_out = round(case.between(1e4, 4e6)), round(case.between(1e3, 1e5))

    def step(host, _):
        yield from host.copy("HtoD", size_in)
        yield from layers(case, host, kernels)
        yield from host.copy("DtoH", size_out)
        yield from host.synchronise()

    return step


def requests(case):
    """A server: requests come at random, and there is none most of the time."""
    case.only, case.steps = frozenset({"cannot tell", NO_LOAD}), case.count(15, 40)
    case.step_name = case.size.choice([None, "handle_request", "execute_model", "predict"])
    kernels, frame = work_of_a_unit(case), case.size.choice(WAITS_FOR_REQUESTS)
    pause = case.unit_ns * case.between(8, 100)
    case.before_step = lambda host: host.pause(host.machine.random.expovariate(1 / pause), frame)
    return serve(case, kernels)


def paced(case):
    """A frame comes every so many ms; the program sleeps until then, which the recording shows."""
    case.only, case.steps = frozenset({"cannot tell", NO_LOAD, PACED}), case.count(20, 40)
    case.step_name = case.size.choice([None, "frame", "ProfilerStep#{}"])
    kernels, frame = work_of_a_unit(case), case.size.choice(WAITS_FOR_FRAMES)
    period = round(case.unit_ns * case.between(3, 30))

    def wait(host):
        due = (host.now // period + 1) * period + host.machine.random.gauss(0, period / 2000)
        return host.pause(due - host.now, frame)

    case.before_step = wait
    return serve(case, kernels)


def named_like_a_loader(case):
    """A range with the name of a batch or of data is around the model itself."""
    name = case.size.choice(["batch", "data", "train_batch", "next_batch", "process_data", "data_step"])
    small = case.size.random() < 0.6
    kernels = [tiny(case) for _ in range(case.count(100, 300))] if small else [gemm(case) for _ in range(case.count(20, 50))]
    cost = case.between(4 * US, 12 * US)

    def step(host, _):
        def body():
            if small and not case.has("small kernels", LAUNCH):
                yield from host.graph(kernels)
                return
            for kernel in kernels:
                if small:
                    yield from host.work(cost)
                yield from op(host, "aten::add" if small else "aten::mm", kernel)

        yield from host.span("range", name, body())

    return step


def graph_steps(case):
    """A CUDA graph for each step, whose result the host reads before the next one. Its first launch uploads it."""
    kernels = [gemm(case, 20 * US, 80 * US) for _ in range(case.count(30, 100))]
    cost, upload = case.between(20 * US, 400 * US), case.between(20 * US, 1 * MS)

    def step(host, number):
        yield from host.graph(kernels, upload=0 if number else upload)
        if case.has("wait", SYNC):
            yield from host.synchronise()
        yield from host.work(cost)

    return step


def two_devices(case):
    kernels = [gemm(case) for _ in range(case.count(10, 25))]
    size = round(case.between(1e6, 3e7))

    def step(host, _):
        for stream in (7, 107):
            yield from host.copy("HtoD", size, stream=stream + 1)
        for kernel in kernels:
            for stream in (7, 107):
                yield from host.launch(kernel, stream)

    return step


def pipeline(case):
    """Each device waits for events of the other one, with work in its queue. What to call its limit is disputed: it is drawn for the checks."""
    case.only = ANY
    kernels = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(4, 12))]

    def step(host, _):
        for stream in (7, 107):
            other = host.machine.last.get(107 if stream == 7 else 7)
            for number, kernel in enumerate(kernels):
                yield from host.launch(kernel, stream, (other.done,) if other and not number else ())

    return step


WAITING = {each.__name__: each for each in (requests, paced)}
PROGRAMS = FAMILIES | WAITING | {each.__name__: each for each in (named_like_a_loader, graph_steps, two_devices, pipeline)}
