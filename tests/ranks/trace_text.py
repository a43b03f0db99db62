"""The text of a Kineto file: header, events, and the metadata of collectives, in the places where torch.profiler writes them.

Times are integer ns after BASE_NS and are written as microseconds with three decimals.
"""

import gzip
import json

from .groups import COLLECTIVES, comms_id, stride_of, text_of

BASE_NS = 1_790_857_026_000_000_000
START_NS = 4_357_488_000_000_000  # of a job, after BASE_NS
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_017_624_576, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
KERNELS = {"all_reduce": "AllReduce_Sum_{}_RING_LL", "all_gather": "AllGather_RING_LL", "reduce_scatter": "ReduceScatter_Sum_{}_RING_LL", "all_to_all": "SendRecv",
           "send": "SendRecv", "recv": "SendRecv", "exchange": "SendRecv", "batch": "SendRecv", "ring": "SendRecv"}
TYPES = {"BFloat16": "bf16", "Float": "f32"}
LAUNCHED = '"queued": 0, "registers per thread": {}, "shared memory": {}, "grid": [{}, {}, {}], "block": [{}, {}, {}]'


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def nccl_kernel(collective, dtype):
    return f"ncclDevKernel_{KERNELS[collective].format(TYPES[dtype])}(ncclDevKernelArgsStorage<4096ul>)"


class Group:
    """One process group, as text that does not change within a file."""

    def __init__(self, name, description, ranks):
        self.name, self.description, self.ranks = name, description, tuple(ranks)
        self.text, self.stride = text_of(self.ranks), stride_of(self.ranks)

    def config(self):
        return {"pg_name": self.name, "pg_desc": self.description, "backend_config": "cuda:nccl", "pg_size": len(self.ranks), "ranks": list(self.ranks)}

    def metadata(self, collective, dtype, ins, outs, seq, splits=("[]", "[]"), peer=None):
        """The arguments that a kernel and its record on the host share. `peer`: the global rank at the other end."""
        text = (f'"Collective name": "{COLLECTIVES[collective]}", "In msg nelems": {ins}, "Out msg nelems": {outs}, "Group size": {len(self.ranks)}, '
                f'"dtype": "{dtype}", "In split size": "{splits[0]}", "Out split size": "{splits[1]}", "Process Group Name": "{self.name}", '
                f'"Process Group Description": "{self.description}", "Process Group Ranks": "{self.text}"')
        if peer is not None:
            text += f', "{"Dst" if collective == "send" else "Src"} Rank": {peer}'
        if seq is not None:
            text += f', "Seq": {seq}, "Comms Id": {comms_id(self.name, seq, peer is not None, self.ranks)}'
        return text

    def own_metadata(self, member):
        """The arguments that only the record on the host has. `member`: this rank's place in the group, or its peer's."""
        stride = f', "Global rank stride": {self.stride}' if self.stride > 0 else ""
        return f', "Global rank start": {self.ranks[0]}{stride}, "Rank": {member}'


class TraceText:
    """Collects the events of one file."""

    def __init__(self, rank, world, groups, pid, extra=None):
        distributed = {"backend": "nccl", "rank": rank, "world_size": world, "pg_count": len(groups), "pg_config": [group.config() for group in groups],
                       "nccl_version": "2.27.5"}
        self.head = {"schemaVersion": 1, "deviceProperties": [DEVICE], "distributedInfo": distributed, "trace_id": f"{rank + 1:032X}",
                     "cuda_driver_version": 13000, "cuda_runtime_version": 13000, "cupti_version": 130001, "displayTimeUnit": "ms",
                     "baseTimeNanoseconds": BASE_NS} | (extra or {})
        self.pid, self.lines, self.external = pid, [], 0

    def event(self, category, name, pid, tid, start, duration, args):
        self.lines.append(f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}, '
                          f'"ts": {start // 1000}.{start % 1000:03d}, "dur": {duration // 1000}.{duration % 1000:03d}, "args": {{{args}}}}}')

    def annotation(self, name, start, end):
        self.external += 1
        self.event("user_annotation", name, self.pid, self.pid, start, end - start, f'"External id": {self.external}, "Record function id": 0')

    def flow(self, phase, number, pid, tid, at):
        binding = ', "bp": "e"' if phase == "f" else ""
        self.lines.append(f'{{"ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, "ts": {at // 1000}.{at % 1000:03d}, "cat": "ac2g", "name": "ac2g"{binding}}}')

    def names(self, threads, streams):
        """`threads`: id -> name."""
        rows = [("process_name", self.pid, 0, {"name": "python3"}), ("process_labels", self.pid, 0, {"labels": "CPU"}),
                ("process_name", 0, 0, {"name": "python3"}), ("process_labels", 0, 0, {"labels": "GPU 0"})]
        rows += [("thread_name", self.pid, tid, {"name": name}) for tid, name in threads.items()]
        rows += [("thread_name", 0, stream, {"name": f"stream {stream} "}) for stream in sorted(streams)]
        for name, pid, tid, args in rows:
            self.lines.append(f'{{"name": "{name}", "ph": "M", "ts": {us(START_NS)}, "pid": {pid}, "tid": {tid}, "args": {json.dumps(args)}}}')

    def finish(self, first, last):
        self.event("Trace", "PyTorch Profiler (0)", '"Spans"', '"PyTorch Profiler"', first - 50_000, last - first + 60_000, '"Op count": 0')
        self.lines.append(f'{{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": {us(last + 20_000)}}}')
        return json.dumps(self.head)[:-1] + ', "traceEvents": [\n' + ",\n".join(self.lines) + '\n], "traceName": "trace.json"}\n'


def compressed(text, level):
    return gzip.compress(text.encode(), level, mtime=0)
