"""Part 1: programs that end, fork or are killed in ways that lose records; losses must be counted."""

from harness.check import Checks
from harness.recording import Capture, last_json, record, storm, workload

CHECKS = Checks("part1")


def kept_or_counted(case, capture, launched, all_kept=True):
    """Additions (or empty kernels) that were recorded, and those counted as lost, make up what was launched."""
    kernels = max(capture.kernels("add"), capture.kernels("Add"), capture.kernels("nothing"))
    lost = capture.lost()
    case.measured(f"{kernels:,} of {launched:,} kernels recorded ({100 * kernels / max(launched, 1):.1f} %); lost: {lost or 'nothing, it says'}",
                  recorded=kernels, launched=launched, lost=lost)
    case.expect(kernels <= launched, f"{kernels:,} kernels recorded, {launched:,} launched")
    case.expect(kernels >= launched or lost, f"{launched - kernels:,} kernels are missing, and no loss says so")
    case.expect(kernels >= launched or not all_kept, f"{launched - kernels:,} kernels of a program that waited for them are missing")


@CHECKS.add("a CUDA program that waits and then ends by _exit: every kernel", needs=("gpu", "programs", "cupti"))
def underscore_exit(case):
    count = case.scaled(5000)
    kept_or_counted(case, record(case, storm(case, "exit", count)), count)


@CHECKS.add("a PyTorch program that ends by os._exit: every kernel", needs=("gpu", "torch"))
def underscore_exit_torch(case):
    count = case.scaled(500)
    kept_or_counted(case, record(case, workload(case, "workers.py", "underscore", count)), count)


@CHECKS.add("the parent annotates and forks, the child uses CUDA: its kernels are recorded, or their loss is", needs=("gpu", "programs", "cupti"))
def fork(case):
    count = case.scaled(1000)
    kept_or_counted(case, record(case, storm(case, "fork", count)), count, all_kept=False)


def multiprocessing(case, how):
    capture = record(case, workload(case, "workers.py", how, case.scaled(300)), name=how)
    kept_or_counted(case, capture, last_json(capture.done).get("kernels", 0), all_kept=how == "spawn")


@CHECKS.add("two workers of multiprocessing's spawn: every kernel of both", limit_s=90, needs=("gpu", "torch"))
def multiprocessing_spawn(case):
    multiprocessing(case, "spawn")


@CHECKS.add("two workers of a fork server: every kernel, or a loss", limit_s=90, needs=("gpu", "torch"))
def multiprocessing_forkserver(case):
    multiprocessing(case, "forkserver")


@CHECKS.add("two workers by fork, before CUDA is used: every kernel, or a loss", limit_s=90, needs=("gpu", "torch"))
def multiprocessing_fork(case):
    multiprocessing(case, "fork")


@CHECKS.add("a program that is killed while its kernels run leaves a capture that can be read and says that it was cut off", needs=("gpu", "programs", "cupti"))
def killed(case):
    timeout = "2" if case.machine.small else "4"
    path = case.folder / "run.gpuprof"
    command = [case.machine.program, "record", "--quiet", "--force", "--sample", "0", "-o", path, "--", "timeout", "-s", "KILL", timeout, *storm(case, "busy", 30)]
    done = case.run(command, env={"GPUPROF_CUPTI": case.machine.cupti()})
    if not case.expect(path.exists(), f"no capture: {done.why()}"):
        return
    capture = Capture(case, case.evidence(path), done)
    kernels, lost = capture.kernels(), capture.lost()
    case.measured(f"{kernels:,} kernels kept in {timeout} s; lost: {lost or 'nothing'}; {capture.trust()[:200]}", recorded=kernels)
    case.expect(kernels > 0, "not one kernel was kept", of_times=True)
    case.expect(lost or "cut" in capture.trust() or "killed" in capture.trust(), "the answer does not say that it was cut off")
