"""Part 1: the interface of CUPTI that a recording uses, and what the profiler of JAX gets then; that of PyTorch is in first.py."""

import json

from harness.check import Checks
from harness.recording import record, storm, workload

CHECKS = Checks("part1")
FIRST_CUPTI, FIRST_DRIVER = 130301, 13030  # with several subscribers (V2)


def facts(case, capture):
    """The table `meta` of a capture."""
    done = case.run([case.machine.program, "query", capture.path, "select key, value from meta", "--format", "json"])
    case.expect(done.ok, done.why())
    return dict(json.loads(done.out)["tables"][0]["rows"]) if done.ok else {}


def interface(case, capture):
    said = facts(case, capture)
    case.measured(f"CUPTI {said.get('cupti_version')}, interface {said.get('cupti_interface')}", interface=said.get("cupti_interface"))
    return said.get("cupti_interface"), int(said.get("cupti_version") or 0)


@CHECKS.add("the second interface of CUPTI from 13.3 update 1 and driver r610 on, else the first; as many kernels with the first", needs=("gpu", "programs", "cupti"))
def cupti_interface(case):
    launches = case.scaled(1000)
    chosen = record(case, storm(case, "launches", launches), name="chosen")
    first = record(case, storm(case, "launches", launches), name="first", env={"GPUPROF_CUPTI_V1": "1"})
    used, version = interface(case, chosen)
    case.expect(used in ("V1", "V2"), f"interface {used}")
    case.expect(used != "V2" or version >= FIRST_CUPTI, f"CUPTI {version} has no second interface")
    case.expect(interface(case, first)[0] == "V1", "GPUPROF_CUPTI_V1=1 did not keep the first interface")
    case.measured(f"{chosen.kernels():,} kernels with {used}, {first.kernels():,} with V1")
    case.expect(chosen.kernels() == first.kernels(), "the interfaces record different numbers of kernels")
    case.expect(not chosen.lost(), f"losses: {chosen.lost()}")


@CHECKS.add("JAX's profiler beside ours: both complete with several subscribers", limit_s=90, needs=("gpu", "jax"))
def subscribers_jax(case):
    capture = record(case, workload(case, "multiply_jax.py", "--profile", case.folder / "jax"))
    used, _ = interface(case, capture)
    if used != "V2":
        case.measured("CUPTI has one subscriber here, so nothing is expected of JAX's profile")
        return
    case.expect(capture.kernels() >= 200 and not capture.lost(), f"{capture.kernels()} kernels for 200 launches; lost: {capture.lost()}")
    profiles = list((case.folder / "jax").rglob("*.xplane.pb"))
    case.expect(profiles, "JAX wrote no profile")
    for path in profiles:
        case.evidence(path)
        done = case.run([case.machine.program, "report", path, "kernels", "--whole", "--format", "json", "--limit", "0"])
        case.expect(done.ok and '"kernels"' in done.out, f"JAX's profile has no kernels: {done.why()}")
