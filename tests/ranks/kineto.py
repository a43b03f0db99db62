"""The events of one rank as torch.profiler records them (PyTorch 2.11, `export_chrome_trace` with gzip).

Keys and their places are those of real recordings and of libkineto/src/output_json.cpp: a collective's metadata is on the host's
`record_param_comms` and again on its kernel, which shares the External id; only the host's record has the start and stride of the group. Each launch has
its operator, its call, the arrow to its kernel, and the kernel. Backward operators run on the autograd thread. Options leave out what older writers or a
damaged recording lack.
"""

from dataclasses import dataclass

import numpy as np

from .groups import DESCRIPTIONS, group_names, kinds, sequence_positions, text_of
from .program import BATCHES, COMPUTE, NAMES, POINT_TO_POINT, TRANSFERS
from .simulate import CALL_AT
from .trace_text import LAUNCHED, START_NS, Group, TraceText, compressed, nccl_kernel

OPERATORS = {"gemm": "aten::mm", "attention": "aten::_scaled_dot_product_flash_attention", "norm": "aten::native_layer_norm", "pointwise": "aten::gelu",
             "embedding": "aten::embedding", "loss": "aten::_log_softmax", "optimizer": "aten::_fused_adamw_", "input": "aten::copy_",
             "result": "aten::item"}
ANNOTATIONS = {"all_reduce": "nccl:all_reduce", "all_gather": "nccl:_all_gather_base", "reduce_scatter": "nccl:_reduce_scatter_base",
               "all_to_all": "nccl:all_to_all"}
CALLS = {"copy_in": ("cudaMemcpyAsync", 41), "copy_out": ("cudaMemcpyAsync", 41), "kernel": ("cudaLaunchKernel", 211)}
NCCL_CALL = ("cudaLaunchKernelExC", 430)
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
CALL_NS = 6_000
ANNOTATED = 1_000_000  # External ids of annotations within operators
SYNCHRONISED = 100_000_000  # correlation ids of synchronisations


@dataclass(frozen=True)
class Options:
    seq: bool = True
    collectives: bool = True  # metadata of collectives at all
    flows: bool = True
    operators: bool = True
    shared_names: bool = False
    described: bool = True
    distributed: bool = True  # distributedInfo: without it only the file's name has the rank
    host_name: bool = False
    lost: float = 0.0  # part of the device events
    graphs: bool = False  # kernels, and collectives within a layer, are replayed from CUDA graphs


def host_name(job, rank):
    return f"node{job.host_of(rank):03d}"


def process_id(job, rank):
    return 4000 + rank % job.per_host * 7


class Writer:
    """All files of one run."""

    def __init__(self, run, clocks, seed, options=Options()):
        self.run, self.job, self.clocks, self.seed, self.options = run, run.job, clocks, seed, options
        self.names = group_names(run.job, options.shared_names)
        self.span = clocks.span(run)
        self.sequences = [sequence_positions(ops) for ops in run.programs]
        self.members = {kind: run.job.groups(kind) for kind in kinds(run.job)}

    def groups(self, rank):
        """Kind -> the group of this rank."""
        found = {}
        for kind in kinds(self.job):
            index = self.job.group_index(kind, rank)
            description = DESCRIPTIONS[kind] if self.options.described or kind == "world" else "undefined"
            found[kind] = Group(self.names[kind, index], description, self.members[kind][index])
        return found

    def text(self, rank, steps=None, claimed=None):
        """The JSON of a rank. `steps`: positions of the steps recorded. `claimed`: the rank that the file gives itself."""
        return RankFile(self, rank, steps or range(self.job.steps), rank if claimed is None else claimed).text()

    def write(self, path, rank, level, **changes):
        path.write_bytes(compressed(self.text(rank, **changes), level))


class RankFile:
    def __init__(self, writer, rank, steps, claimed):
        self.writer, self.job, self.options, self.rank, self.steps = writer, writer.job, writer.options, rank, steps
        self.stage, self.replica, self.shard = self.job.place(rank)
        self.ops = writer.run.programs[self.stage]
        self.positions, self.counts = writer.sequences[self.stage]
        self.groups = writer.groups(rank)
        extra = {"host_name": host_name(self.job, rank)} if self.options.host_name else {}
        self.out = TraceText(claimed, self.job.world, list(self.groups.values()), process_id(self.job, rank), extra)
        if not self.options.distributed:
            del self.out.head["distributedInfo"]
        self.pid = self.out.pid
        self.autograd = self.pid + 211
        self.lost = np.random.default_rng([writer.seed, 3, rank])
        self.correlation, self.metadata, self.node = 0, "", 0

    def recorded(self, values, device):
        """Recorded integer times of this rank's rows of a [step, ..., replica, shard] array."""
        times = values[..., self.replica, self.shard]
        clock = self.writer.clocks.device_times if device else self.writer.clocks.host_times
        return (np.rint(clock(self.rank, times, self.writer.span)) + START_NS).astype(np.int64)

    def own(self, values, step):
        """This rank's value of a [stage][step, replica, shard] array."""
        return values[self.stage][step, self.replica, self.shard]

    def calls(self, op):
        """(send or recv, place of the other rank in the group) of a batch."""
        if op.kind == "ring":
            return [("send", (self.replica + 1) % self.job.dp), ("recv", (self.replica - 1) % self.job.dp)]
        if op.kind == "batch":
            return [(edge.kind, (self.stage + edge.peer) % self.job.pp) for edge in op.edges]
        return [(kind, self.stage + op.peer) for kind in (("send", "recv") if op.kind == "exchange" else (op.kind,))]

    def collective(self, op, i, step, call=None):
        """(arguments of kernel and host record, arguments of the host record only). `call`: one of a batch."""
        group, p2p, name = self.groups[op.group], op.kind in POINT_TO_POINT, call[0] if call else op.name
        ins, outs, splits = op.elements, op.outputs, ("[]", "[]")
        member, peer = group.ranks.index(self.rank), None
        if p2p:
            ins = outs = max(op.elements, op.outputs)
            member = call[1] if call else self.stage + op.peer
            peer = group.ranks[member]
        if op.name == "all_to_all":
            ins, outs, splits = self.uneven(op, step)
        seq = (self.job.first_step + step) * self.counts[op.group, p2p] + self.positions[i] + 1 if self.options.seq else None
        return group.metadata(name, op.dtype, ins, outs, seq, splits, peer), group.own_metadata(member)

    def uneven(self, op, step):
        """An all-to-all with uneven splits: each rank sends the same shares, to experts with more and fewer tokens."""
        first = self.replica // self.job.ep * self.job.ep
        tokens = self.writer.run.tokens[self.stage][step, first:first + self.job.ep, self.shard]
        sent = [int(op.elements * share) for share in tokens / tokens.sum()]
        got = [sent[self.replica - first]] * self.job.ep
        return sum(sent), sum(got), (text_of(sent), text_of(got))

    def device_event(self, op, step, start, end):
        """The kernel or copy, and the end of the arrow to it."""
        if self.options.lost and self.lost.random() < self.options.lost:
            return
        args = f'"External id": {self.out.external}, "device": 0, "context": 1, "stream": {op.stream}, "correlation": {self.correlation}, '
        category = "kernel"
        if op.kind in ("copy_in", "copy_out"):
            category, name = "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)" if op.kind == "copy_in" else "Memcpy DtoH (Device -> Pageable)"
            args += f'"bytes": {op.elements}, "memory bandwidth (GB/s)": {op.elements / max(1, end - start):.4f}'
        elif op.kind == "kernel":
            name, grid, block = NAMES[op.name]
            args += LAUNCHED.format(64, 0, round(grid[0] * self.own(self.writer.run.effects.grid, step)), *grid[1:], *block)
        else:
            name = nccl_kernel(op.name, op.dtype)
            args += LAUNCHED.format(96, 82240, 24, 1, 1, 544, 1, 1)
            if self.options.collectives and self.metadata:
                args += ", " + self.metadata
        if self.is_captured(op):
            self.node += 1
            args += f', "graph id": 3, "graph node id": {self.node}'
        self.out.event(category, name, 0, op.stream, start, end - start, args)
        if self.options.flows:
            self.out.flow("f", self.correlation, 0, op.stream, start)

    def is_captured(self, op):
        return self.options.graphs and (op.kind == "kernel" or op.group in ("tp", "ep"))

    def graph_launch(self, call, continued):
        """One call launches all operations of a graph, and nothing says what each of them is."""
        self.metadata = ""
        if continued:
            return
        self.node = 0
        self.correlation += 1
        self.out.external += 1
        self.out.event("cuda_runtime", "cudaGraphLaunch", self.pid, self.pid, call, CALL_NS,
                       f'"External id": {self.out.external}, "cbid": 311, "correlation": {self.correlation}')
        if self.options.flows:
            self.out.flow("s", self.correlation, self.pid, self.pid, call)

    def batch_events(self, op, i, step, host, call):
        """batch_isend_irecv: a record of each call, all ended when their only kernel is launched, which names none of them."""
        tid = self.autograd if op.range == "backward" else self.pid
        length = round((call - host) / CALL_AT)
        for turn, one in enumerate(self.calls(op)):
            self.out.external += 1
            metadata, own = self.collective(op, i, step, one)
            args = f'"External id": {self.out.external}, "Record function id": 0' + (f", {metadata}{own}" if self.options.collectives else "")
            self.out.event("cpu_op", "record_param_comms", self.pid, tid, host + turn * (length // 9), length // 10, args)
        self.out.external += 1
        self.correlation += 1
        self.metadata = ""
        self.out.event("user_annotation", "nccl:coalesced", self.pid, tid, host + length // 2, length // 3, f'"External id": {self.out.external + ANNOTATED}, "Record function id": 0')
        api, cbid = NCCL_CALL
        self.out.event("cuda_runtime", api, self.pid, tid, call, min(CALL_NS, length // 4), f'"External id": {self.out.external}, "cbid": {cbid}, "correlation": {self.correlation}')
        if self.options.flows:
            self.out.flow("s", self.correlation, self.pid, tid, call)

    def host_events(self, op, i, step, host, call):
        """The operator, its call, and the beginning of the arrow."""
        if op.kind in BATCHES or (self.job.batched and op.kind in TRANSFERS):
            return self.batch_events(op, i, step, host, call)
        tid = self.autograd if op.range == "backward" else self.pid
        length = round((call - host) / CALL_AT)
        self.out.external += 1
        self.correlation += 1
        linked = f'"External id": {self.out.external}, '
        if op.group:
            self.metadata, own = self.collective(op, i, step)
            args = linked + '"Record function id": 0' + (f", {self.metadata}{own}" if self.options.collectives else "")
            self.out.event("cpu_op", "record_param_comms", self.pid, tid, host, length, args)
            name = ANNOTATIONS.get(op.name) or f"nccl:{op.kind} {self.stage}{'->' if op.kind == 'send' else '<-'}{self.stage + op.peer}"
            args = f'"External id": {self.out.external + ANNOTATED}, "Record function id": 0'
            self.out.event("user_annotation", name, self.pid, tid, host + length // 8, length * 3 // 4, args)
        elif self.options.operators:
            self.out.event("cpu_op", OPERATORS[op.name], self.pid, tid, host, length, linked + '"Record function id": 0')
        api, cbid = CALLS.get(op.kind, NCCL_CALL)
        self.out.event("cuda_runtime", api, self.pid, tid, call, min(CALL_NS, length // 4), f'{linked}"cbid": {cbid}, "correlation": {self.correlation}')
        if self.options.flows:
            self.out.flow("s", self.correlation, self.pid, tid, call)

    def ranges(self, step, begin, fetched, done, host):
        self.out.annotation(f"ProfilerStep#{self.job.first_step + step}", begin, done)
        self.out.annotation(LOADER, begin + 2_000, fetched - 1_000)
        run = self.writer.run
        pause, at = round(self.own(run.effects.pause, step)), run.pause_at[self.stage]
        if pause:
            self.out.annotation(run.effects.ranges[step, self.rank], host[at] - pause, host[at])
        first = next(i for i, op in enumerate(self.ops) if op.name == "optimizer")
        self.out.annotation("Optimizer.step#AdamW.step", host[first] - 1_000, host[first + 1])

    def synchronisation(self, call, done):
        begin = call + CALL_NS
        args = f'"External id": {self.out.external}, "cbid": 131, "correlation": {self.correlation + SYNCHRONISED}'
        self.out.event("cuda_runtime", "cudaStreamSynchronize", self.pid, self.pid, begin, max(0, done - 2_000 - begin), args)

    def text(self):
        run, stage = self.writer.run, self.stage
        host, call, begin, fetched, done = (self.recorded(values[stage], False).tolist() for values in (run.host, run.launch, run.begin, run.fetched, run.done))
        start, end = (self.recorded(values[stage], True).tolist() for values in (run.start, run.end))
        threads = {self.pid: f"thread {self.pid} (python3)", self.autograd: f"thread {self.autograd} (pt_autograd_0)"}
        self.out.names(threads, {op.stream for op in self.ops})
        for step in self.steps:
            self.ranges(step, begin[step], fetched[step], done[step], host[step])
            captured = False
            for i, op in enumerate(self.ops):
                before, captured = captured, self.is_captured(op)
                if captured:
                    self.graph_launch(call[step][i], before)
                else:
                    self.host_events(op, i, step, host[step][i], call[step][i])
                self.device_event(op, step, start[step][i], end[step][i])
            self.synchronisation(call[step][-1], done[step])
            length = end[step][-1] - start[step][0]
            self.out.event("gpu_user_annotation", f"ProfilerStep#{self.job.first_step + step}", 0, COMPUTE, start[step][0] - 1, length + 2, "")
        return self.out.finish(begin[self.steps[0]], done[self.steps[-1]])
