"""The steps of one stage of an interleaved pipeline: each stage has several chunks of the model, and what it sends and receives between two of them is one batch.

As Megatron-LM does it without overlap (`forward_backward_pipelining_with_interleaving`): all stages exchange in lockstep. The first stage receives what the
last one sends, when it sends it, though it needs it only some micro-batches later.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Edge:
    """One send or receive. `peer`: the other stage, by difference, around the pipeline. `tag`: equal at both ends."""

    kind: str
    peer: int
    tag: tuple


@dataclass(frozen=True)
class Schedule:
    stages: int
    chunks: int
    micro_batches: int  # a multiple of the stages

    @property
    def total(self):
        return self.micro_batches * self.chunks

    def chunk(self, k, forward=True):
        place = k // self.stages % self.chunks
        return place if forward else self.chunks - 1 - place

    def micro_batch(self, k):
        return k // (self.stages * self.chunks) * self.stages + k % self.stages

    def warm_up(self, stage):
        return min(self.total, (self.stages - stage - 1) * 2 + (self.chunks - 1) * self.stages)

    def last(self, stage, k):
        """Whether the output of the k-th forward is the loss."""
        return stage == self.stages - 1 and self.chunk(k) == self.chunks - 1

    def first(self, stage, k):
        """Whether the k-th backward has no stage before it."""
        return stage == 0 and self.chunk(k, False) == 0

    def sends(self, stage, k, direction):
        """What a stage sends after its k-th forward or backward."""
        if direction == "forward":
            return [] if self.last(stage, k) else [Edge("send", 1, ("forward", self.micro_batch(k), self.chunk(k), stage))]
        return [] if self.first(stage, k) else [Edge("send", -1, ("backward", self.micro_batch(k), self.chunk(k, False), stage))]

    def receives(self, stage, k, direction):
        """What a stage receives while its neighbour sends: before its k-th forward or backward, but on the stage where the pipeline begins `stages - 1` earlier."""
        begins = 0 if direction == "forward" else self.stages - 1
        source = (stage - 1 if direction == "forward" else stage + 1) % self.stages
        sent = k - self.stages if stage == begins else k  # by which turn of the neighbour
        if not 0 <= sent < self.total:
            return []
        sends = self.sends(source, sent, direction)
        return [Edge("recv", -1 if direction == "forward" else 1, edge.tag) for edge in sends]

    def turns(self, stage):
        """("forward" or "backward", chunk) to compute, and lists of edges to exchange."""
        warm, total = self.warm_up(stage), self.total
        yield self.receives(stage, 0, "forward")
        for k in range(warm):
            yield "forward", self.chunk(k)
            edges = self.sends(stage, k, "forward") + self.receives(stage, k + 1, "forward")
            yield edges + (self.receives(stage, 0, "backward") if k == warm - 1 else [])
        if warm == 0:
            yield self.receives(stage, 0, "backward")
        for k in range(total - warm):
            yield "forward", self.chunk(k + warm)
            yield "backward", self.chunk(k, False)
            yield (self.sends(stage, k + warm, "forward") + self.sends(stage, k, "backward") + self.receives(stage, k + warm + 1, "forward")
                   + self.receives(stage, k + 1, "backward"))
        for k in range(total - warm, total):
            yield "backward", self.chunk(k, False)
            yield self.sends(stage, k, "backward") + self.receives(stage, k + 1, "backward")
