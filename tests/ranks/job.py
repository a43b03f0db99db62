"""The description of a job: its grid of ranks, its model, its network, its hosts, its clocks, and its faults.

A rank is a place in the grid (stage, replica, shard): rank = (stage * dp + replica) * tp + shard, so that the shards of one tensor-parallel
group are neighbours and share a host. Expert-parallel groups are `ep` neighbouring replicas of one stage and shard. Times are in ns.
Nothing here is computed from a simulation, and no default hides a fault.
"""

from dataclasses import dataclass, field

MS = 1_000_000
US = 1_000


@dataclass(frozen=True)
class Model:
    """Work of one micro-batch. A stage has `layers`; a layer is `kernels` kernels and, with tp > 1, an all-reduce."""

    layers: int = 2
    kernels: int = 4
    forward: int = 6 * MS  # compute of one stage
    backward: int = 12 * MS
    embedding: int = 1 * MS  # first stage, more than the others
    loss: int = 2 * MS  # last stage, more than the others
    optimizer: int = 4 * MS
    parameters: int = 200_000_000  # of one rank
    activation: int = 8_388_608  # elements sent between stages and reduced within a layer
    input_bytes: int = 1_048_576


@dataclass(frozen=True)
class Network:
    """Transfer times once all ranks have arrived, and how far the ends of one collective lie apart on true clocks."""

    tp: int = 200 * US
    p2p: int = 400 * US
    dp: int = 12 * MS
    ep: int = 600 * US
    ring: int = 500 * US
    world: int = 60 * US
    jitter: float = 0.02  # of a transfer, one draw per instance
    ends: dict = field(default_factory=lambda: {"all_reduce": 3 * US, "all_gather": 4 * US, "reduce_scatter": 8 * US, "all_to_all": 8 * US, "p2p": 5 * US, "ring": 5 * US})


@dataclass(frozen=True)
class Host:
    """Host threads: how long they fetch input and how long they take per launch."""

    input: int = 1 * MS
    launch: int = 30 * US
    jitter: float = 0.05
    read_back: int = 20 * US  # loss.item() at the end of a step, after which the host continues


@dataclass(frozen=True)
class Clocks:
    """Errors of the recorded times. `jump`: (host, ns), in the middle of the job. `noisy`: (host, ns), a clock that wanders."""

    offset: float = 2.0 * MS  # standard deviation over hosts
    rate_ppm: float = 10.0
    gpu: float = 2.0 * US  # of device times, per GPU
    jump: tuple = ()
    noisy: tuple = ()


@dataclass(frozen=True)
class Fault:
    """Something wrong at a place.

    kind            factor                  ns                      effect
    slow_gpu        of kernel times         -                       kernels of `ranks`
    slow_host       of launch times         -                       launches of `ranks`
    late_data       -                       later input             `ranks`
    pause           -                       length of the pause     host of one rank per step: `ranks` take turns; `range` names it
    slow_link       of transfer times       -                       collectives of `group`
    more_work       of kernel times, grids  -                       `ranks`; with `rotate`, one replica after another
    hidden_wait     -                       idle time of a stream   `ranks`, with no trace on the host
    """

    kind: str
    unit: tuple  # what must be named: ("rank", 5), ("host", 3), ("group", "dp", 7), ("job",)
    ranks: tuple = ()
    group: tuple = ()  # (kind, index)
    steps: tuple = ()  # positions, none = all
    factor: float = 1.0
    ns: int = 0
    range: str = ""
    rotate: bool = False
    seed: int = 0

    def active(self, step):
        return not self.steps or step in self.steps


@dataclass(frozen=True)
class Job:
    name: str
    dp: int
    pp: int = 1
    tp: int = 1
    ep: int = 1
    per_host: int = 8
    micro_batches: int = 4
    steps: int = 20
    first_step: int = 10  # the number in ProfilerStep#
    model: Model = Model()
    network: Network = field(default_factory=Network)
    host: Host = Host()
    clocks: Clocks = Clocks()
    sync: str = "sharded"  # of gradients: sharded (reduce-scatter, all-gather), all_reduce, none
    buckets: int = 1
    overlap: bool = False  # gradient buckets start during the last backward
    batched: bool = False  # transfers between stages by batch_isend_irecv: in the steady state one kernel sends and receives
    chunks: int = 1  # of each stage: an interleaved pipeline, whose batches go to both neighbours at once
    rings: int = 0  # batches of a layer that pass something on around the replicas, as attention over a split context does
    world_sync: bool = False  # an all-reduce of one element over all ranks before the optimizer
    kernel_jitter: float = 0.01
    gpu_spread: float = 0.002  # of the speed of GPUs
    begin_spread: int = 1 * MS  # the hosts begin the first step within this time
    expert_imbalance: float = 0.0  # standard deviation of the tokens that an expert gets
    faults: tuple = ()

    @property
    def world(self):
        return self.dp * self.pp * self.tp

    @property
    def hosts(self):
        return -(-self.world // self.per_host)

    def rank(self, stage, replica, shard):
        return (stage * self.dp + replica) * self.tp + shard

    def place(self, rank):
        """(stage, replica, shard)"""
        return rank // (self.dp * self.tp), rank // self.tp % self.dp, rank % self.tp

    def host_of(self, rank):
        return rank // self.per_host

    def host_ranks(self, host):
        return tuple(range(host * self.per_host, min(self.world, (host + 1) * self.per_host)))

    def groups(self, kind):
        """The groups of one kind as tuples of ranks, in the order of their index."""
        stages, replicas, shards = range(self.pp), range(self.dp), range(self.tp)
        if kind == "tp":
            return [tuple(self.rank(p, d, t) for t in shards) for p in stages for d in replicas]
        if kind in ("dp", "cp"):
            return [tuple(self.rank(p, d, t) for d in replicas) for p in stages for t in shards]
        if kind == "ep":
            blocks = range(0, self.dp, self.ep)
            return [tuple(self.rank(p, b + e, t) for e in range(self.ep)) for p in stages for t in shards for b in blocks]
        if kind == "pp":
            return [tuple(self.rank(p, d, t) for p in stages) for d in replicas for t in shards]
        if kind == "world":
            return [tuple(range(self.world))]
        raise ValueError(f"unknown kind of group {kind!r}")

    def group_index(self, kind, rank):
        """The index in groups(kind) of the group that has this rank."""
        p, d, t = self.place(rank)
        return {"tp": p * self.dp + d, "dp": p * self.tp + t, "cp": p * self.tp + t, "pp": d * self.tp + t, "world": 0,
                "ep": ((p * self.tp + t) * self.dp + d) // self.ep if self.ep else 0}[kind]
