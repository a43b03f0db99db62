"""What tests/gpu/counters.sh runs, in order of worth: the first items make most offline work possible.

An item is a command, and what it leaves: `keep` a folder with the availability image, the configuration, the images and the values that
were evaluated on the machine; `capture` a recording; `text` what it printed.
"""

import dataclasses
import shutil

SETS = ["triage", "sol", "details", "roofline", "memory", "stalls", "full"]
FEW = ["--launches", "1"]


@dataclasses.dataclass
class Item:
    name: str
    command: list  # {out} is a path of its own
    limit_s: float = 60
    needs: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    expects: str = "ok"  # or "any": the answer itself is the finding


def items(program, kernels, python, workloads, cuptis):
    counters = [program, "counters", "--force", "-o", "{out}.gpuprof"]
    plain = [kernels, "--rounds", "1"]
    made = [Item("available", [program, "counters", "--plan-for", "this"])]
    made += [Item(f"set.{name}", [*counters, "--keep", "{out}.images", "--set", name, *FEW, "--", *plain]) for name in SETS]
    made += [Item("range", [*counters, "--keep", "{out}.images", "--set", "triage", "--range", "nvtx:round", "--", *plain])]
    made += stalls(program, counters, plain, python, workloads)
    made += [Item("source", [*counters, "--keep", "{out}.images", "--set", "source", "--kernel", "strided|transpose", *FEW, "--", *plain])]
    made += [Item(f"ncu.cache-{cache}.clock-{clock}", [
        "ncu", "--set", "full", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", cache, "--clock-control", clock, *plain],
        needs=("ncu",), limit_s=120) for cache in ("all", "none") for clock in ("base", "none")]
    made += [Item(f"cost.{held}MB.{name}", [*counters, "--set", name, "--launches", "3", "--budget", "60", "--", *plain, "--hold-mb", str(held)],
                  limit_s=120) for held in (100, 1000, 10000, 40000) for name in ("triage", "sol", "details")]
    made += [Item(f"conflict.{name}", command, expects="any") for name, command in conflicts(program, counters, plain, python).items()]
    made += [Item(f"version.{version}", [*counters, "--set", "sol", *FEW, "--", *plain], environment={"GPUPROF_CUPTI": str(path)}, expects="any")
             for version, path in cuptis.items()]
    made += [Item(f"torch.{name}", [*counters, "--set", "details", *FEW, "--budget", "20", "--", python, str(workloads / "labelled.py"), name, "5"],
                  needs=("torch",), limit_s=180) for name in ("memory_bound", "overlap", "sync_item", "input_bound")]
    return made


def stalls(program, counters, plain, python, workloads):
    """Samples at three periods; the folders of the nine kernels keep all records and the loaded code (that of libraries is too large). The seconds of `stalls.none` are those without samples."""
    longer = [plain[0], "--rounds", "20"]
    made = [Item("stalls.none", longer)]
    made += [Item(f"stalls.{period}", [*counters, "--stalls", "--stall-period", f"2^{period}", "--keep", "{out}.spool", "--", *longer])
             for period in (11, 14, 17)]
    made += [Item("stalls.traced", [program, "record", "--quiet", "--force", "--stalls", "-o", "{out}.gpuprof", "--", *longer], expects="any")]
    for need, name, command in (("torch", "torch", [python, str(workloads / "labelled.py"), "memory_bound", "5"]),
                                ("triton", "triton", [python, str(workloads / "add_triton.py")])):
        made += [Item(f"stalls.{name}", [*counters, "--stalls", "--", *command], needs=(need,), limit_s=120)]
    return made


def conflicts(program, counters, plain, python):
    """Each combination of docs/reference/commands/counters.md: it works, or the message is a sentence."""
    two = ["sh", "-c", '"$@" & "$@"; wait', "sh"]
    over = [program, "record", "--quiet", "--force", "--sample", "0,pm", "-o", "{out}.pm.gpuprof", "--"]
    return {
        "pm-sampling": [*over, *counters, *FEW, "--", *plain],
        "two-at-once": [*two, *counters, *FEW, "--", *plain],
        "ncu": ["ncu", "--set", "full", *counters, *FEW, "--", *plain] if shutil.which("ncu") else ["true"],
        "graph": [*counters, *FEW, "--", *plain, "--graph"],
        "graph-in-range": [*counters, "--set", "triage", "--range", "nvtx:round", "--", *plain, "--graph"],
        "cooperative": [*counters, *FEW, "--", *plain, "--cooperative"],
        "cooperative-in-range": [*counters, "--set", "triage", "--range", "nvtx:round", "--", *plain, "--cooperative"],
        "threads": [*counters, *FEW, "--", *plain, "--threads", "4"],
        "contexts": [*counters, *FEW, "--", plain[0], "--rounds", "4", "--contexts"],
        "torch.profiler": [*counters, *FEW, "--", python, "-c", TORCH],
    }


TORCH = """
import torch
from torch.profiler import ProfilerActivity, profile
a = torch.ones(1024, 1024, device="cuda")
with profile(activities=[ProfilerActivity.CUDA]) as recorded:
    for _ in range(4): a = a @ a / 1024
    torch.cuda.synchronize()
print(len(recorded.events()), "events")
"""
