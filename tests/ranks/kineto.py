"""Writes the file of one rank as torch.profiler does (PyTorch 2.11, `export_chrome_trace` with gzip).

Keys and their places are those of real recordings and of libkineto/src/output_json.cpp: a collective's metadata is on the host's
`record_param_comms` and again on its kernel, which shares the External id; only the host's record has the start and stride of the group. Each launch has
its operator, its call, the arrow to its kernel, and the kernel. Backward operators run on the autograd thread. Options leave out what older writers or a
damaged recording lack.
"""

import gzip
import json
from dataclasses import dataclass

import numpy as np

from .groups import COLLECTIVES, DESCRIPTIONS, comms_id, group_names, kinds, sequence_positions, stride_of, text_of
from .program import COMPUTE, NAMES
from .simulate import CALL_AT

BASE_NS = 1_790_857_026_000_000_000
START_NS = 4_357_488_000_000_000  # of the job, after BASE_NS
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_017_624_576, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
OPERATORS = {"gemm": "aten::mm", "attention": "aten::_scaled_dot_product_flash_attention", "norm": "aten::native_layer_norm", "pointwise": "aten::gelu",
             "embedding": "aten::embedding", "loss": "aten::_log_softmax", "optimizer": "aten::_fused_adamw_", "input": "aten::copy_", "loss_out": "aten::item"}
ANNOTATIONS = {"all_reduce": "nccl:all_reduce", "all_gather": "nccl:_all_gather_base", "reduce_scatter": "nccl:_reduce_scatter_base", "all_to_all": "nccl:all_to_all"}
KERNELS = {"all_reduce": "AllReduce_Sum_{}_RING_LL", "all_gather": "AllGather_RING_LL", "reduce_scatter": "ReduceScatter_Sum_{}_RING_LL", "all_to_all": "SendRecv",
           "send": "SendRecv", "recv": "SendRecv"}
TYPES = {"BFloat16": "bf16", "Float": "f32"}
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
CALL_NS = 6_000


@dataclass(frozen=True)
class Options:
    seq: bool = True
    collectives: bool = True  # metadata of collectives at all
    flows: bool = True
    operators: bool = True
    shared_names: bool = False
    described: bool = True
    host_name: bool = False
    lost: float = 0.0  # part of the device events


def us(ns):
    return "%d.%03d" % divmod(ns, 1000)


def host_name(job, rank):
    return f"node{job.host_of(rank):03d}"


class Group:
    """One group of one rank, as text that does not change within a file."""

    def __init__(self, job, kind, index, options, names):
        self.name = names[kind, index]
        self.ranks = job.groups(kind)[index]
        self.description = DESCRIPTIONS[kind] if options.described or kind == "world" else "undefined"
        self.text = text_of(self.ranks)
        self.stride = stride_of(self.ranks)

    def config(self):
        return {"pg_name": self.name, "pg_desc": self.description, "backend_config": "cuda:nccl", "pg_size": len(self.ranks), "ranks": list(self.ranks)}


class Writer:
    """All files of one run."""

    def __init__(self, run, clocks, seed, options=Options()):
        self.run, self.job, self.clocks, self.seed, self.options = run, run.job, clocks, seed, options
        self.names = group_names(run.job, options.shared_names)
        self.span = clocks.span(run)
        self.sequences = [sequence_positions(ops) for ops in run.programs]

    def text(self, rank, steps=None, claimed=None):
        """The JSON of a rank. `steps`: positions of the steps recorded. `claimed`: the rank that the file gives itself."""
        return RankFile(self, rank, steps or range(self.job.steps), rank if claimed is None else claimed).text()

    def write(self, path, rank, **changes):
        path.write_bytes(gzip.compress(self.text(rank, **changes).encode(), 6, mtime=0))


class RankFile:
    def __init__(self, writer, rank, steps, claimed):
        self.writer, self.job, self.options, self.rank, self.steps, self.claimed = writer, writer.job, writer.options, rank, steps, claimed
        self.stage, self.replica, self.shard = self.job.place(rank)
        self.ops = writer.run.programs[self.stage]
        self.positions, self.counts = writer.sequences[self.stage]
        self.pid = 4000 + rank % self.job.per_host * 7
        self.thread, self.autograd = self.pid, self.pid + 211
        self.groups = {kind: Group(self.job, kind, self.job.group_index(kind, rank), self.options, writer.names) for kind in kinds(self.job)}
        self.lost = np.random.default_rng([writer.seed, 3, rank])
        self.lines = []
        self.external = self.correlation = 0

    def recorded(self, values, device):
        """Recorded integer times of this rank's rows of a [step, ..., replica, shard] array."""
        times = values[..., self.replica, self.shard]
        clock = self.writer.clocks.device_times if device else self.writer.clocks.host_times
        return (np.rint(clock(self.rank, times, self.writer.span)) + START_NS).astype(np.int64)

    def header(self):
        distributed = {"backend": "nccl", "rank": self.claimed, "world_size": self.job.world, "pg_count": len(self.groups),
                       "pg_config": [group.config() for group in self.groups.values()], "nccl_version": "2.27.5"}
        head = {"schemaVersion": 1, "deviceProperties": [DEVICE], "distributedInfo": distributed, "trace_id": f"{self.rank + 1:032X}",
                "cuda_driver_version": 13000, "cuda_runtime_version": 13000, "cupti_version": 130001, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
        if self.options.host_name:
            head["host_name"] = host_name(self.job, self.rank)
        return json.dumps(head)[:-1] + ', "traceEvents": [\n'

    def event(self, category, name, pid, tid, start, duration, args):
        self.lines.append(f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}, "ts": {us(start)}, "dur": {us(duration)}, "args": {{{args}}}}}')

    def annotation(self, name, start, end, tid=None):
        self.external += 1
        self.event("user_annotation", name, self.pid, tid or self.thread, start, end - start, f'"External id": {self.external}, "Record function id": 0')

    def collective_args(self, op, i, step):
        """(on the kernel and the host record, only on the host record)"""
        group, p2p = self.groups[op.group], op.kind in ("send", "recv")
        ins, outs, splits = op.elements, op.outputs, ("[]", "[]")
        if p2p:
            ins = outs = op.elements + op.outputs
        if op.name == "all_to_all":
            ins, outs, splits = self.uneven(op, step)
        text = (f'"Collective name": "{COLLECTIVES[op.name]}", "In msg nelems": {ins}, "Out msg nelems": {outs}, "Group size": {len(group.ranks)}, '
                f'"dtype": "{op.dtype}", "In split size": "{splits[0]}", "Out split size": "{splits[1]}", "Process Group Name": "{group.name}", '
                f'"Process Group Description": "{group.description}", "Process Group Ranks": "{group.text}"')
        member = self.stage + op.peer if p2p else group.ranks.index(self.rank)
        if p2p:
            text += f', "{"Dst" if op.kind == "send" else "Src"} Rank": {group.ranks[self.stage + op.peer]}'
        if self.options.seq:
            seq = (self.job.first_step + step) * self.counts[op.group, p2p] + self.positions[i] + 1
            text += f', "Seq": {seq}, "Comms Id": {comms_id(group.name, seq, p2p, group.ranks)}'
        stride = f', "Global rank stride": {group.stride}' if group.stride > 0 else ""
        return text, f', "Global rank start": {group.ranks[0]}{stride}, "Rank": {member}'

    def uneven(self, op, step):
        """An all-to-all with uneven splits: each rank sends the same shares, to experts with more and fewer tokens."""
        first = self.replica // self.job.ep * self.job.ep
        tokens = self.writer.run.tokens[self.stage][step, first:first + self.job.ep, self.shard]
        sent = [int(op.elements * share) for share in tokens / tokens.sum()]
        got = [sent[self.replica - first]] * self.job.ep
        return sum(sent), sum(got), (text_of(sent), text_of(got))

    def device_event(self, op, i, step, start, end):
        """The kernel or copy, and the end of the arrow to it."""
        args = f'"External id": {self.external}, "device": 0, "context": 1, "stream": {op.stream}, "correlation": {self.correlation}'
        category, name = "kernel", ""
        if op.kind in ("copy_in", "copy_out"):
            category, name = "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)" if op.kind == "copy_in" else "Memcpy DtoH (Device -> Pageable)"
            args += f', "bytes": {op.elements}, "memory bandwidth (GB/s)": {op.elements / max(1, end - start):.4f}'
        elif op.kind == "kernel":
            name, grid, block = NAMES[op.name]
            wide = round(grid[0] * self.writer.run.effects.grid[self.stage][step, self.replica, self.shard])
            args += f', "queued": 0, "registers per thread": 64, "shared memory": 0, "grid": [{wide}, {grid[1]}, {grid[2]}], "block": {list(block)}'
        else:
            name = f"ncclDevKernel_{KERNELS[op.name].format(TYPES[op.dtype])}(ncclDevKernelArgsStorage<4096ul>)"
            args += ', "queued": 0, "registers per thread": 96, "shared memory": 82240, "grid": [24, 1, 1], "block": [544, 1, 1]'
            if self.options.collectives:
                args += ", " + self.shared_args
        if self.options.lost and self.lost.random() < self.options.lost:
            return
        self.event(category, name, 0, op.stream, start, end - start, args)
        if self.options.flows:
            self.lines.append(f'{{"ph": "f", "id": {self.correlation}, "pid": 0, "tid": {op.stream}, "ts": {us(start)}, "cat": "ac2g", "name": "ac2g", "bp": "e"}}')

    def host_events(self, op, i, step, host, call):
        tid = self.autograd if op.range == "backward" else self.thread
        length = round((call - host) / CALL_AT)
        self.external += 1
        self.correlation += 1
        if op.group:
            self.shared_args, own = self.collective_args(op, i, step)
            args = f'"External id": {self.external}, "Record function id": 0'
            if self.options.collectives:
                args += f", {self.shared_args}{own}"
            self.event("cpu_op", "record_param_comms", self.pid, tid, host, length, args)
            peer = self.stage + op.peer
            name = ANNOTATIONS.get(op.name) or f"nccl:{op.kind} {self.stage}{'->' if op.kind == 'send' else '<-'}{peer}"
            self.event("user_annotation", name, self.pid, tid, host + length // 8, length * 3 // 4, f'"External id": {self.external + 1000000}, "Record function id": 0')
        elif self.options.operators:
            operator = OPERATORS["loss_out" if op.kind == "copy_out" else op.name]
            self.event("cpu_op", operator, self.pid, tid, host, length, f'"External id": {self.external}, "Record function id": 0')
        api, cbid = {"copy_in": ("cudaMemcpyAsync", 41), "copy_out": ("cudaMemcpyAsync", 41), "kernel": ("cudaLaunchKernel", 211)}.get(op.kind, ("cudaLaunchKernelExC", 430))
        duration = min(CALL_NS, length // 4)
        self.event("cuda_runtime", api, self.pid, tid, call, duration, f'"External id": {self.external}, "cbid": {cbid}, "correlation": {self.correlation}')
        if self.options.flows:
            self.lines.append(f'{{"ph": "s", "id": {self.correlation}, "pid": {self.pid}, "tid": {tid}, "ts": {us(call)}, "cat": "ac2g", "name": "ac2g"}}')

    def ranges(self, step, begin, fetched, done, host):
        self.annotation(f"ProfilerStep#{self.job.first_step + step}", begin, done)
        self.annotation(LOADER, begin + 2_000, fetched - 1_000)
        run, at = self.writer.run, self.writer.run.pause_at[self.stage]
        pause = round(run.effects.pause[self.stage][step, self.replica, self.shard])
        if pause:
            self.annotation(run.effects.ranges.get((step, self.rank), "pause"), host[at] - pause, host[at])
        first = next(i for i, op in enumerate(self.ops) if op.name == "optimizer")
        self.annotation("Optimizer.step#AdamW.step", host[first] - 1_000, host[first + 1])

    def names(self):
        rows = [("process_name", self.pid, 0, {"name": "python3"}), ("process_labels", self.pid, 0, {"labels": "CPU"}),
                ("process_name", 0, 0, {"name": "python3"}), ("process_labels", 0, 0, {"labels": "GPU 0"}),
                ("thread_name", self.pid, self.thread, {"name": f"thread {self.thread} (python3)"}),
                ("thread_name", self.pid, self.autograd, {"name": f"thread {self.autograd} (pt_autograd_0)"})]
        rows += [("thread_name", 0, stream, {"name": f"stream {stream} "}) for stream in sorted({op.stream for op in self.ops})]
        start = us(START_NS)
        for name, pid, tid, args in rows:
            self.lines.append(f'{{"name": "{name}", "ph": "M", "ts": {start}, "pid": {pid}, "tid": {tid}, "args": {json.dumps(args)}}}')

    def text(self):
        run, stage = self.writer.run, self.stage
        host, call = (self.recorded(values[stage], False).tolist() for values in (run.host, run.launch))
        start, end = (self.recorded(values[stage], True).tolist() for values in (run.start, run.end))
        begin, fetched, done = (self.recorded(values[stage], False).tolist() for values in (run.begin, run.fetched, run.done))
        self.names()
        for step in self.steps:
            self.ranges(step, begin[step], fetched[step], done[step], host[step])
            for i, op in enumerate(self.ops):
                self.host_events(op, i, step, host[step][i], call[step][i])
                self.device_event(op, i, step, start[step][i], end[step][i])
            wait = call[step][-1] + CALL_NS
            self.event("cuda_runtime", "cudaStreamSynchronize", self.pid, self.thread, wait, max(0, done[step] - 2_000 - wait),
                       f'"External id": {self.external}, "cbid": 131, "correlation": {self.correlation + 10**8}')
            self.event("gpu_user_annotation", f"ProfilerStep#{self.job.first_step + step}", 0, COMPUTE, start[step][0] - 1, end[step][-1] - start[step][0] + 2, "")
        first, last = begin[self.steps[0]], done[self.steps[-1]]
        self.event("Trace", "PyTorch Profiler (0)", '"Spans"', '"PyTorch Profiler"', first - 50_000, last - first + 60_000, '"Op count": 0')
        self.lines.append(f'{{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": {us(last + 20_000)}}}')
        return self.header() + ",\n".join(self.lines) + '\n], "traceName": "trace.json"}\n'
