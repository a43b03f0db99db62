"""The commands that faults.py tries: every reader and every writer, in a folder with inputs of its own."""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
INPUTS = {
    "kineto.json.gz": "kineto/triton.json.gz", "stacks.json.gz": "kineto/transformer-stacks-shapes-memory.json.zst", "kineto.json.zst": "public/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.zst",
    "nsys.sqlite.gz": "nsys/autograd_clusters.sqlite.gz", "nsys_gpu_trace.csv": "nsys/mock_gpu_trace.csv",
    "hatchet.json": "proton/matmul.hatchet", "xplane.pb.gz": "jax/mlp.xplane.pb.zst", "xprof.json.gz": "jax/mlp.trace.json.zst",
    "memory.prof": "jax/memory.prof", "snapshot.pickle.gz": "memory/growth.snapshot.pickle.gz",
    "timeline.raw.zst": "memory/memory_analysis__memory_timeline.raw.zst", "flight": "flight/nccl_trace_rank_0",
    "smi.xml": "nvidia-smi/h200-580-q.xml", "dmon.txt": "nvidia-smi/h200-580-dmon.txt", "smi.csv": "nvidia-smi/h200-580.csv",
    "series.csv": "nvml/bursty.csv", "details.csv.gz": "ncu/triton.details.csv.gz", "raw.csv.gz": "ncu/triton.raw.csv.gz",
    "samples.gpuprof": "instructions/samples.gpuprof", "cubin.gz": "cubin/kernels.sm_80.cubin.gz",
    "dump/nccl_trace_rank_0": "flight/nccl_trace_rank_0", "dump/nccl_trace_rank_1": "flight/nccl_trace_rank_1",
    "job/rank0.json.gz": "ranks/gloo-rank0.json.gz", "job/rank1.json.gz": "ranks/gloo-rank1.json.gz",
}
READ = ("kineto.json.gz", "kineto.json", "kineto.json.zst", "nsys.sqlite.gz", "nsys.sqlite", "nsys_gpu_trace.csv", "hatchet.json", "xplane.pb.gz",
        "xprof.json.gz", "memory.prof", "snapshot.pickle.gz", "timeline.raw.zst", "flight", "smi.xml", "dmon.txt", "smi.csv", "series.csv",
        "details.csv.gz", "raw.csv.gz", "run.gpuprof", "dump", "damaged.sqlite")
EXPORTS = ("capture", "chrome", "perfetto", "nsys", "speedscope", "folded", "pprof", "otlp-profiles", "hatchet", "csv", "html")
OF_SAMPLES = ("folded-source", "pprof-source")

# IN/: the inputs; what is written goes into the current folder.
COMMANDS = {
    **{f"report {name}": ["report", f"IN/{name}", "--format", "json", "--limit", "0"] for name in READ},
    "report text": ["report", "IN/kineto.json.gz", "-o", "out"],
    "report several": ["report", "IN/job", "kernels", "--format", "csv", "-o", "out"],
    **{f"export {name}": ["export", name, "IN/kineto.json.gz", "-o", "out"] for name in EXPORTS},
    **{f"export {name}": ["export", name, "IN/samples.gpuprof", "-o", "out"] for name in OF_SAMPLES},
    "export folded-python": ["export", "folded-python", "IN/stacks.json.gz", "-o", "out"],
    "export nsys of nsys": ["export", "nsys", "IN/nsys.sqlite", "-o", "out"],
    "export to a pipe": ["export", "chrome", "IN/kineto.json.gz"],
    "scrub": ["scrub", "IN/kineto.json.gz", "-o", "out"],
    "compare": ["compare", "IN/kineto.json.gz", "IN/run.gpuprof", "-o", "out"],
    "compare several": ["compare", "IN/job/rank0.json.gz", "IN/job/rank1.json.gz", "--format", "json"],
    "query": ["query", "IN/kineto.json.gz", "select * from kernel order by name", "--format", "csv", "-o", "out"],
    "query sorted": ["query", "IN/nsys.sqlite", "select name, count(*) from kernel group by name order by 2 desc", "--format", "json"],
    "whatif": ["whatif", "IN/kineto.json.gz", "--format", "json"],
    "kernel-info": ["kernel-info", "IN/cubin.gz"],
    "source": ["report", "IN/samples.gpuprof", "source", "--sources", "IN/src"],
    "schema": ["schema", "--format", "json", "-o", "out"],
    "history add": ["history", "add", "IN/kineto.json.gz", "--label", "a", "--db", "history"],
    "history list": ["history", "list", "--db", "IN/history"],
    "history check": ["history", "check", "IN/kineto.json.gz", "--label", "a", "--db", "IN/history"],
    "ranks": ["ranks", "IN/job", "--format", "json", "--cache", "cache", "--save", "out", "--workers", "1"],
    "ranks cached": ["ranks", "IN/job", "--format", "json", "--cache", "IN/cache", "--workers", "1"],
    "ranks reduce": ["ranks", "reduce", "IN/job/rank0.json.gz", "-o", "out"],
    "ranks of flight recorders": ["ranks", "IN/dump", "--format", "json", "--cache", "cache", "--workers", "1"],
    "bench compare": ["bench", "compare", "IN/bench.json", "IN/bench2.json", "--format", "json"],
    "bench save": ["bench", "--save", "./out.json", "--min-samples", "2", "--max-samples", "2", "--min-time", "0", "--backend", "none", "--", "true"],
    "record": ["record", "--sample", "0", "--quiet", "-o", "out", "--", "true"],
    "record calls": ["record", "--os-calls", "--sample", "0", "--quiet", "-o", "out", "--", "true"],
    "profile": ["--backend", "replay:IN/series.csv@max", "--output", "out.json", "--csv", "out.csv", "--capture", "out", "--", "true"],
}
SQLITE = ("report nsys.sqlite.gz", "report nsys.sqlite", "report damaged.sqlite", "export nsys", "export nsys of nsys", "query sorted", "history add",
          "history list", "history check")
# Ends as its command does, whatever happens to the file.
STATUS_OF_THE_COMMAND = ("record", "record calls", "profile")


class Inputs:
    """The folder with the inputs, some of which the program makes itself."""

    def __init__(self, binary, folder):
        self.folder = folder
        for name, fixture in INPUTS.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(FIXTURES / fixture, folder / name)
        shutil.copytree(FIXTURES / "instructions" / "src", folder / "src")
        for name in ("kineto.json", "nsys.sqlite"):
            (folder / name).write_bytes(gzip.decompress((folder / f"{name}.gz").read_bytes()))
        self._damage()

        def make(*words):
            environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
            subprocess.run([binary, *words], cwd=folder, env=environment, check=True, capture_output=True, timeout=60)

        make("export", "capture", "kineto.json.gz", "-o", "run.gpuprof")
        make("history", "add", "kineto.json.gz", "--label", "a", "--db", "history")
        make("history", "add", "run.gpuprof", "--label", "a", "--db", "history")
        make("ranks", "job", "--cache", "cache", "--workers", "1")
        for name in ("bench.json", "bench2.json"):
            make("bench", "--save", f"./{name}", "--min-samples", "3", "--max-samples", "3", "--min-time", "0", "--backend", "none", "--", "true")

    def _damage(self):
        """A database with a page in the middle that is not one: SQLITE_CORRUPT."""
        database = bytearray((self.folder / "nsys.sqlite").read_bytes())
        page = int.from_bytes(database[16:18], "big")
        middle = len(database) // page // 2 * page
        database[middle:middle + page] = b"\xa5" * page
        (self.folder / "damaged.sqlite").write_bytes(database)

    def words(self, name):
        return [word.replace("IN/", f"{self.folder}/") for word in COMMANDS[name]]
