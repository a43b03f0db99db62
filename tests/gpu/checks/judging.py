"""Part 3: `evaluate` on cheats with CUDA streams, and verdicts of programs with known bottlenecks."""

import json

from harness.check import Checks, read_json
from harness.recording import record, workload

CHECKS = Checks("part3")

BASELINE = """
import torch
def kernel(x):
    for _ in range(20):
        x = torch.tanh(x * 1.01)
    return x
"""
# What a dishonest version does, and whether the evaluator must refuse it. Each computes the right values, at some time.
BY_TIMES = {"work on a stream that is never joined", "results kept by the identity of the input", "a thread goes on after the call"}  # how they are noticed
CANDIDATES = {
    "the same": (BASELINE, False),
    "work on a stream that is never joined": (BASELINE.replace("kernel", "honest") + """
side = torch.cuda.Stream()
def kernel(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        return honest(x)
""", True),
    "work on a stream that is joined": (BASELINE.replace("kernel", "honest") + """
side = torch.cuda.Stream()
def kernel(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out = honest(x)
    torch.cuda.current_stream().wait_stream(side)
    return out
""", False),
    "results kept by the identity of the input": (BASELINE.replace("kernel", "honest") + """
known = {}
def kernel(x):
    if id(x) not in known:
        known[id(x)] = (x, honest(x))
    return known[id(x)][1]
""", True),
    "torch.cuda.synchronize does nothing": (BASELINE + "torch.cuda.synchronize = lambda *_: None\n", True),
    "events that say what they like": (BASELINE + "torch.cuda.Event.elapsed_time = lambda *_: 0.001\n", True),
    "another stream is called current": (BASELINE + "other = torch.cuda.Stream()\ntorch.cuda.current_stream = lambda *_: other\n", True),
    "a thread goes on after the call": (BASELINE.replace("kernel", "honest") + """
import threading
def kernel(x):
    out = torch.empty_like(x)
    threading.Thread(target=lambda: out.copy_(honest(x))).start()
    return out
""", True),
}
INPUTS = "import torch\ndef inputs(seed):\n    torch.manual_seed(seed)\n    return (torch.randn({size}, {size}, device='cuda'),)\n"


def judge(case, said):
    source, refused = CANDIDATES[said]
    files = {"baseline.py": BASELINE, "optimized.py": source, "inputs.py": INPUTS.format(size=64 if case.machine.small else 2048)}
    for name, text in files.items():
        (case.folder / name).write_text(text)
    command = [case.machine.program, "evaluate", case.folder / "baseline.py", case.folder / "optimized.py", "--inputs", case.folder / "inputs.py", "--json"]
    if case.machine.small:
        command += ["--repeat", "5", "--checks", "1"]
    done = case.run(command)
    answer = json.loads(done.out) if done.out.startswith("{") else {}
    (case.folder / "answer.json").write_text(done.out)
    case.evidence(case.folder / "answer.json")
    case.expect(done.status in (0, 1), f"evaluate: {done.why()}")
    violations = [violation["text"] if isinstance(violation, dict) else violation for violation in answer.get("violations", [])]
    case.measured(f"exit {done.status}, timer {answer.get('timer')}, speedup {answer.get('speedup')}; {'; '.join(violations) or 'no violation'}", violations=violations)
    case.expect(violations or not refused, f"{said}: was not refused", of_times=said in BY_TIMES)
    case.expect(refused or not violations, f"{said}: was refused: {violations}", of_times=True)  # "clocks disagree" where a call waits for a CPU


def add_candidate(name, said, refused):
    def check(case):
        judge(case, said)

    check.__name__ = f"evaluate_{name}"
    CHECKS.add(f"evaluate: {said}: {'refused' if refused else 'accepted'}", limit_s=60, needs=("gpu", "torch"))(check)


NAMES = ("honest", "stream_not_joined", "stream_joined", "cached", "synchronize_replaced", "events_replaced", "current_stream_replaced", "thread")
for each, (about, (_, wrong)) in zip(NAMES, CANDIDATES.items()):
    add_candidate(each, about, wrong)


def verdict_of(answer):
    return answer.get("verdict") or {}


def judge_verdict(case, answer, truth):
    """Compares the first answer with the truth; separate, so that it can be tested on known answers."""
    verdict = verdict_of(answer)
    titles = [finding["title"] for finding in answer.get("findings", [])]
    case.measured(f"{verdict.get('name')} ({verdict.get('share_pct') or 0:.1f} %): {verdict.get('because')}; findings: {'; '.join(titles) or 'none'}",
                  verdict=verdict.get("name"), share_pct=verdict.get("share_pct"))
    case.expect(verdict.get("name") in truth["verdicts"], f"the verdict is {verdict.get('name')}: the truth is {' or '.join(truth['verdicts'])}, since {truth['why']}", of_times=True)
    if "finding" in truth:
        case.expect(any(truth["finding"] in title.lower() for title in titles), f"no finding about {truth['finding']}: {titles}", of_times=True)


def add_verdict(name):
    def check(case):
        truth = read_json(case.machine.workloads / "truth.json")[name]
        capture = record(case, workload(case, "labelled.py", name, case.scaled(truth["steps"])), "--python", "50")
        answer = capture.report()
        (case.folder / "answer.json").write_text(json.dumps(answer, indent=1))
        case.evidence(case.folder / "answer.json")
        judge_verdict(case, answer, truth)

    check.__name__ = f"verdict_{name}"
    CHECKS.add(f"verdict of {name} as its label says (workloads/truth.json)", limit_s=60, needs=("gpu", "torch"))(check)


for each in ("small_kernels", "transformer", "memory_bound", "input_bound", "sync_item", "h2d_heavy", "graph", "overlap"):
    add_verdict(each)
