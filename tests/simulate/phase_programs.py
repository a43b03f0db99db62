"""Programs that do different things one after the other: they save, evaluate or log between their steps, have two phases of which only
one repeats, or load for long before they begin.

As in families.py, each family is a function of Case.
"""

from families import HOST, LAUNCH, SYNC, TRANSFER, US, Case, elementwise, gemm, layers, op, skinny_gemm, tiny


def training(case: Case):
    """Steps that are named by the program, not by a profiler: what is outside their ranges is outside steps."""
    case.step_name = case.size.choice(["train_step", "step", "iteration {}", "training_step"])
    kernels = [gemm(case) if i % 4 else elementwise(case) for i in range(case.count(20, 60))]

    def step(host, _):
        yield from layers(case, host, kernels)

    return step, sum(kernel.alone for kernel in kernels)


def every(case):
    """How often something is done between steps: at least twice in the recording."""
    often = case.size.choice([1, 2, 3, 5])
    case.steps = often * case.count(3, 5) + case.count(0, 1)
    return often


def checkpoints(case):
    step, work = training(case)
    often = every(case)
    parts = case.count(4, 16)
    size = round(work * often * case.between(0.05, 1.0) * 11 / parts)
    writing, pageable = work * often * case.between(0.05, 1.5), case.size.random() < 0.7
    name = case.size.choice(["save_checkpoint", "save_model", "torch.save", None])

    def save(host):
        if pageable:
            pinned = not case.has("pageable save", TRANSFER)
            for _ in range(parts):
                yield from host.copy("DtoH", size, pinned=pinned)
        elif case.has("copies", TRANSFER):
            for _ in range(parts):
                yield from host.copy("DtoH", size * 5)
        if case.has("wait", SYNC):
            yield from host.synchronise()
        if case.has("file", HOST):
            yield from host.work(writing)

    def after(host, number):
        if (number + 1) % often == 0 and case.has("saving", None):
            yield from host.span("range", name, save(host)) if name else save(host)

    case.after_step, case.together = after, {"between-steps": ("saving",)}
    return step


def evaluations(case):
    """Kernels between steps are work like others; what the host does around them is a cause."""
    step, work = training(case)
    often = every(case)
    kernels = [gemm(case, 50 * US, 300 * US) for _ in range(case.count(10, 40))]
    batches = max(1, round(work * often * case.between(0.1, 1.0) / sum(kernel.alone for kernel in kernels)))
    metrics = work * often * case.between(0.02, 0.8) / batches

    def evaluate(host):
        for _ in range(batches):
            if case.has("evaluation", None):
                yield from layers(case, host, kernels)
                if case.has("wait", SYNC):
                    yield from host.synchronise()
            if case.has("metrics", HOST):
                yield from host.work(metrics)

    def after(host, number):
        if (number + 1) % often == 0:
            yield from host.span("range", "evaluate", evaluate(host))

    case.after_step, case.together = after, {"between-steps": ("evaluation", "metrics")}
    return step


def logs(case):
    """After each step the loss is read, and written somewhere."""
    step, work = training(case)
    writing = work * case.between(0.02, 1.2)

    def log(host):
        if case.has("item", SYNC):
            yield from host.copy("DtoH", 4)
            yield from host.synchronise()
        if case.has("log", HOST):
            yield from host.work(writing)

    case.after_step = lambda host, _: host.span("range", "log_metrics", log(host))
    case.together = {"between-steps": ("item", "log")}
    return step


def two_phases(case):
    """Few large kernels, then many small ones, or the other way round. Only the small ones repeat often; either may take longer."""
    large = [gemm(case, 100 * US, 800 * US) for _ in range(case.count(60, 120))]
    small = [tiny(case) if case.size.random() < 0.5 else skinny_gemm(case) for _ in range(case.count(60, 200))]
    cost, tokens = case.between(2 * US, 8 * US), case.count(10, 40)
    pass_ns, token_ns = sum(kernel.alone for kernel in large), sum(max(kernel.alone, 8 * US + cost) for kernel in small)
    prompts = max(1, min(20, round(case.between(0.2, 5) * tokens * token_ns / pass_ns)))
    first = case.size.random() < 0.7
    case.steps, case.step_name, case.whole = prompts + tokens, None, True
    names = case.size.choice([("prefill", "decode"), ("encode_prompt", "generate_token"), (None, None)])

    def prompt(host):
        yield from layers(case, host, large)

    def token(host):
        if case.has("small kernels", LAUNCH):
            for kernel in small:
                yield from host.work(cost)
                yield from host.launch(kernel)
        else:
            yield from host.graph(small)
        yield from host.copy("DtoH", 4)
        yield from host.synchronise()

    def step(host, number):
        is_prompt = number < prompts if first else number >= tokens
        body, name = (prompt(host), names[0]) if is_prompt else (token(host), names[1])
        yield from host.span("range", name, body) if name else body

    return step


def loading(case):
    """The weights are read and copied to the device for long; then steps follow that nothing marks."""
    step, work = training(case)
    case.steps, case.step_name = case.count(10, 20), None
    parts = case.count(10, 60)
    size, reading = round(work * case.between(0.5, 10) * 11 / parts), work * case.between(0.1, 3) / parts * 10

    def load(host):
        for _ in range(parts):
            yield from host.work(reading)
            yield from host.copy("HtoD", size, pinned=False)

    case.before_run = lambda host: host.span("range", "load_weights", load(host))
    return step


def forward_ranges(case):
    """Ranges named like steps that are around the forward pass only: what follows them belongs to every step."""
    step, _ = training(case)
    case.step_name = case.size.choice(["training_step", "[pl]training_step", "forward_step"])
    backward = [gemm(case) for _ in range(case.count(20, 60))]

    def after(host, _):
        yield from layers(case, host, backward, "aten::mm_backward")
        yield from host.span("range", "Optimizer.step#AdamW.step", op(host, "aten::_fused_adamw_", elementwise(case)))

    case.after_step = after
    return step


def evaluates_after(case):
    """After all steps comes an evaluation that moves data. It may take longer than the steps."""
    step, work = training(case)
    kernels = [elementwise(case) for _ in range(case.count(20, 50))]
    passes = max(1, round(work * case.steps * case.between(0.2, 4) / sum(kernel.alone for kernel in kernels)))
    name = case.size.choice(["evaluate", "validation", None])

    def evaluate(host):
        for _ in range(passes):
            yield from layers(case, host, kernels)
            yield from host.synchronise()

    case.after_run, case.whole = lambda host: host.span("range", name, evaluate(host)) if name else evaluate(host), True
    return step


PHASES = {each.__name__: each for each in (checkpoints, evaluations, logs, two_phases, loading, forward_ranges, evaluates_after)}
