"""The program of one pipeline stage in one step: operations in the order in which the host launches them.

The schedule is 1F1B. A collective starts no earlier than the compute that was launched before it, as in PyTorch, where its stream waits for the
current stream. Each direction between two stages has its own stream, so a send never waits for a receive. The program is the same
for all ranks of a stage and for all steps; the simulation adds times, and the writers add names.
"""

from dataclasses import dataclass

from .interleaved import Schedule

COMPUTE, TP, DP, EP, WORLD = 7, 20, 24, 28, 32
FORWARD_IN, FORWARD_OUT, BACKWARD_IN, BACKWARD_OUT = 36, 40, 44, 48  # streams of point-to-point transfers
WITH_NEXT, WITH_PREVIOUS, WITH_BOTH, AROUND = 52, 56, 60, 64  # of batches of them
TRANSFERS = ("send", "recv", "exchange")
BATCHES = ("batch", "ring")
POINT_TO_POINT = (*TRANSFERS, *BATCHES)
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
NAMES = {
    "gemm": (GEMM, (1056, 1, 1), (384, 1, 1)),
    "attention": ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>, false, true>(pytorch_flash::Flash_fwd_params)", (16, 8, 32), (128, 1, 1)),
    "norm": ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*)", (8192, 1, 1), (32, 4, 1)),
    "pointwise": ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int, at::native::GeluCUDAKernelImpl)", (16384, 1, 1), (128, 1, 1)),
    "embedding": ("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>()", (1024, 1, 1), (128, 1, 1)),
    "loss": ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float>(float*, c10::BFloat16 const*, int)", (4096, 1, 1), (1024, 1, 1)),
    "optimizer": ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor>()", (320, 1, 1), (512, 1, 1)),
}
LAYER = ("norm", "gemm", "attention", "pointwise", "gemm", "gemm", "pointwise", "gemm")  # kernels of a layer, repeated as needed
SHARE = {"gemm": 3.0, "attention": 4.0, "norm": 1.0, "pointwise": 0.7}  # of a layer's time


@dataclass
class Op:
    """`ns`: time of a kernel, or of a transfer after the last arrival. `peer`: the other stage of a point-to-point transfer, by difference."""

    kind: str  # kernel, copy_in, copy_out, collective, send, recv, exchange (both at once), batch (with both neighbours), ring (to the next, from the one before)
    name: str  # of NAMES, or the collective
    stream: int
    ns: float
    after: tuple = ()  # operations of other streams that must have ended
    group: str = ""
    elements: int = 0
    outputs: int = 0
    dtype: str = "BFloat16"
    peer: int = 0
    tag: tuple = ()
    edges: tuple = ()  # of a batch
    range: str = ""


class Stage:
    """Builds the program of one stage."""

    def __init__(self, job, stage):
        self.job, self.stage, self.ops = job, stage, []
        self.last = {}  # stream -> its last operation
        self.pending = []  # operations that the next kernel of the compute stream waits for
        self.unreduced = []  # gradient buckets that only the optimizer waits for
        self.range = ""

    def add(self, op):
        op.range = self.range
        self.ops.append(op)
        self.last[op.stream] = len(self.ops) - 1
        return len(self.ops) - 1

    def kernel(self, name, ns):
        self.add(Op("kernel", name, COMPUTE, ns, after=tuple(self.pending)))
        self.pending = []

    def layer(self, ns):
        names = [LAYER[i % len(LAYER)] for i in range(self.job.model.kernels)]
        total = sum(SHARE[name] for name in names)
        for name in names:
            self.kernel(name, ns * SHARE[name] / total)

    def current(self):
        return (self.last[COMPUTE],) if COMPUTE in self.last else ()

    def collective(self, name, group, stream, ns, elements, outputs, wait=True, dtype="BFloat16"):
        op = self.add(Op("collective", name, stream, ns, self.current(), group, elements, outputs, dtype))
        if wait:
            self.pending.append(op)
        return op

    def transfer(self, kind, direction, micro_batch):
        ahead = direction == "forward"
        peer = (1 if ahead else -1) if kind == "send" else (-1 if ahead else 1)
        if not 0 <= self.stage + peer < self.job.pp:
            return
        stream = {("recv", True): FORWARD_IN, ("send", True): FORWARD_OUT, ("recv", False): BACKWARD_IN, ("send", False): BACKWARD_OUT}[kind, ahead]
        size = self.job.model.activation
        sizes = (size, 0) if kind == "send" else (0, size)
        op = self.add(Op(kind, kind, stream, self.job.network.p2p, self.current(), "pp", *sizes, peer=peer, tag=(direction, micro_batch)))
        if kind == "recv":
            self.pending.append(op)

    def exchange(self, peer, turn):
        """Sends to a neighbour and receives from it, by one kernel."""
        if not 0 <= self.stage + peer < self.job.pp:
            return
        size = self.job.model.activation
        op = self.add(Op("exchange", "exchange", WITH_NEXT if peer > 0 else WITH_PREVIOUS, self.job.network.p2p, self.current(), "pp", size, size, peer=peer,
                         tag=("exchange", turn)))
        self.pending.append(op)

    def shards_reduced(self):
        if self.job.tp > 1:
            self.collective("all_reduce", "tp", TP, self.job.network.tp, self.job.model.activation, self.job.model.activation)

    def experts(self):
        if self.job.ep > 1:
            self.collective("all_to_all", "ep", EP, self.job.network.ep, self.job.model.activation, self.job.model.activation)

    def batch(self, edges):
        if edges:
            size = self.job.model.activation
            self.pending.append(self.add(Op("batch", "batch", WITH_BOTH, self.job.network.p2p, self.current(), "pp", size, size, edges=tuple(edges))))

    def pass_on(self):
        """Keys and values of the next replica's part of the context, during the attention to the part before."""
        for _ in range(self.job.rings if self.job.dp > 1 else 0):
            size = self.job.model.activation
            op = self.add(Op("ring", "ring", AROUND, self.job.network.ring, self.current(), "cp", size, size))
            self.kernel("attention", self.job.model.forward / 8)
            self.pending.append(op)

    def forward(self, micro_batch):
        self.range = "forward"
        self.transfer("recv", "forward", micro_batch)
        self.compute_forward()
        self.transfer("send", "forward", micro_batch)

    def compute_forward(self, chunk=0):
        model, chunks = self.job.model, self.job.chunks
        self.range = "forward"
        if self.stage == 0 and chunk == 0 and model.embedding:
            self.kernel("embedding", model.embedding)
        for _ in range(model.layers // chunks):
            self.experts()
            self.pass_on()
            self.layer(model.forward / model.layers)
            self.shards_reduced()
        if self.stage == self.job.pp - 1 and chunk == chunks - 1 and model.loss:
            self.kernel("loss", model.loss)

    def backward(self, micro_batch):
        self.range = "backward"
        self.transfer("recv", "backward", micro_batch)
        self.compute_backward(micro_batch)
        self.transfer("send", "backward", micro_batch)

    def compute_backward(self, micro_batch):
        model = self.job.model
        self.range = "backward"
        for layer in range(model.layers // self.job.chunks):
            self.layer(model.backward / model.layers)
            self.shards_reduced()
            if self.job.overlap and micro_batch == self.job.micro_batches - 1:
                self.gradients(layer * self.job.buckets // model.layers, (layer + 1) * self.job.buckets // model.layers)

    def gradients(self, first, last):
        """Buckets first to last, on the stream of data parallelism; the optimizer waits for them."""
        job, size = self.job, self.job.model.parameters // self.job.buckets
        if job.dp == 1 or job.sync == "none":
            return
        for _ in range(first, last):
            name, outputs = ("reduce_scatter", size // job.dp) if job.sync == "sharded" else ("all_reduce", size)
            self.unreduced.append(self.collective(name, "dp", DP, job.network.dp / job.buckets, size, outputs, wait=False, dtype="Float"))

    def micro_batches(self):
        job = self.job
        if job.chunks > 1:
            return self.interleaved()
        warm = min(job.pp - self.stage - 1, job.micro_batches)
        for i in range(warm):
            self.forward(i)
        if job.batched:
            self.steady_batches(warm)
        else:
            for i in range(job.micro_batches - warm):
                self.forward(warm + i)
                self.backward(i)
        for i in range(job.micro_batches - warm, job.micro_batches):
            self.backward(i)

    def steady_batches(self, warm):
        """As in Megatron: what goes to a neighbour and what comes back from it in one batch."""
        count = self.job.micro_batches - warm
        self.range = "forward"
        self.transfer("recv", "forward", warm)
        for i in range(count):
            self.compute_forward()
            self.exchange(1, i)
            self.compute_backward(i)
            if i + 1 < count:
                self.exchange(-1, i)
            else:
                self.transfer("send", "backward", i)

    def interleaved(self):
        for turn in Schedule(self.job.pp, self.job.chunks, self.job.micro_batches).turns(self.stage):
            if isinstance(turn, list):
                self.batch(turn)
            elif turn[0] == "forward":
                self.compute_forward(turn[1])
            else:
                self.compute_backward(0)

    def build(self):
        job = self.job
        self.add(Op("copy_in", "input", COMPUTE, job.model.input_bytes / 25, elements=job.model.input_bytes))
        self.micro_batches()
        self.range = "optimizer"
        if not job.overlap:
            self.gradients(0, job.buckets)
        if job.world_sync:
            self.collective("all_reduce", "world", WORLD, job.network.world, 1, 1, dtype="Float")
        self.pending += self.unreduced
        self.kernel("optimizer", job.model.optimizer)
        if job.sync == "sharded" and job.dp > 1:
            size = job.model.parameters
            self.collective("all_gather", "dp", DP, job.network.dp, size // job.dp, size)
        self.range = ""
        self.add(Op("copy_out", "result", COMPUTE, 1_500, tuple(self.pending), elements=4))
        return self.ops


def programs(job):
    """One list of operations per stage."""
    return [Stage(job, stage).build() for stage in range(job.pp)]
