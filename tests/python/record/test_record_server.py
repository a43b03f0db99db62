"""`record` on a program of an inference server's shape: an API server without CUDA forks an engine core, which spawns a worker for
each GPU. One worker opens the range for all, and at the end workers that do not end at SIGTERM are killed.
"""

import collections
import subprocess
import sys

from patience import HANGS_S
from played import PLAY, fake_environment
from recordings_of_cupti import kernels_in, lines, quick_script

WORKER = PLAY + """
import glob, os, signal
rank, folder = int(sys.argv[2]), sys.argv[3]
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a worker whose communicator hangs
def tell(what): open(f"{folder}/{what}-{rank}", "w").close()
def wait_for(what):
    while not os.path.exists(f"{folder}/{what}"): time.sleep(0.01)
def written():
    return sum(os.path.getsize(file) for file in glob.glob(f"{os.environ['GPUPROF_RECORD_DIR']}/{os.getpid()}-*.gpuprof"))
play(0)  # before the range
tell("ready")
if rank == 0:
    wait_for("start")
    cuda.cuProfilerStart()
    tell("started")
wait_for("started-0")
before, turn = written(), 0
while written() < before + 20000:  # until what was played in the range is on disk
    turn += 1
    play(turn)
    time.sleep(0.05)
tell("done")
while True: time.sleep(1)
"""

SERVER = """
import os, signal, subprocess, sys, time
script, folder, code = sys.argv[1:]
core = os.fork()
if core == 0:
    workers = [subprocess.Popen([sys.executable, "-c", code, script, str(rank), folder]) for rank in range(2)]
    def wait_for(what):
        while not all(os.path.exists(f"{folder}/{what}-{rank}") for rank in range(2)): time.sleep(0.01)
    wait_for("ready")
    open(f"{folder}/start", "w").close()
    wait_for("done")
    for worker in workers: worker.terminate()
    time.sleep(0.1)
    for worker in workers: worker.kill()
    for worker in workers: worker.wait()
    os._exit(0)
os.waitpid(core, 0)
"""


def test_one_worker_opens_the_range_of_all_and_their_kills_lose_a_stated_tail(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    command = [program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--capture-range", "cudaProfilerApi", "--", sys.executable,
               "-c", SERVER, quick_script(tmp_path), tmp_path, WORKER]
    done = subprocess.run(command, env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    losses = {row["kind"]: row["count"] for row in program.report(capture, "losses")["losses"].rows}
    assert losses.pop("killed_process") == 2
    counts = collections.Counter(row["process"] for row in program.stored(capture, "kernel"))
    assert len(counts) == 2, "both workers, of which one called cuProfilerStart; the others used no GPU and have no file"
    assert all(count >= len(kernels_in(lines())) // 2 for count in counts.values())
