"""The table of events (events.py) from a folder of Kineto files; only what the files contain is used.

An operation's place is that of its launch among the launches of its step, so a lost kernel shifts no other. A collective without a sequence number takes
its count among the host's records of that group in its step, for the same reason. A launch without a device event is a row without an end (lost.py).
Hosts are those that truth.json or the caller states: these files do not name them.
"""

import json
import re
from pathlib import Path

import numpy as np

from .events import COLLECTIVE, COLUMNS, COMPUTED, COPY, P2P, joined, nothing, transfer_number
from .groups import COLLECTIVES, DESCRIPTIONS
from .kineto import LOADER
from .trace_text import BASE_NS, START_NS

OURS = {theirs: ours for ours, theirs in COLLECTIVES.items()}
SYNCHRONISE = 131  # cudaStreamSynchronize
PAUSES = ("gc.collect", "save_checkpoint")
STEP = re.compile(r"ProfilerStep#(\d+)")


def ns(event, base):
    """(start, end), on the time of the generator."""
    start = round(event["ts"] * 1000) + base - BASE_NS - START_NS
    return start, start + round(event["dur"] * 1000)


class RankEvents:
    def __init__(self, trace, group_of, name_of):
        self.rank = trace["distributedInfo"]["rank"]
        base = trace.get("baseTimeNanoseconds", 0)
        self.members = {group["pg_name"]: tuple(group["ranks"]) for group in trace["distributedInfo"]["pg_config"]}
        self.kinds = {group["pg_name"]: group["pg_desc"] for group in trace["distributedInfo"]["pg_config"]}
        self.group_of, self.name_of = group_of, name_of
        spans = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
        annotations = [(event["name"], *ns(event, base)) for event in spans if event["cat"] == "user_annotation"]
        self.steps = sorted((int(STEP.match(name)[1]), begin, end) for name, begin, end in annotations if STEP.match(name))
        self.ranges = annotations
        self.launches = sorted((event["args"]["correlation"], ns(event, base)[0], event["args"]["External id"])
                               for event in spans if event["cat"] == "cuda_runtime" and event["args"]["cbid"] != SYNCHRONISE)
        self.records = {event["args"]["External id"]: event for event in spans if event["cat"] == "cpu_op" and event["name"] == "record_param_comms"}
        self.device = [(event, *ns(event, base)) for event in spans if event["cat"] in ("kernel", "gpu_memcpy")]
        self.base = base

    def step_at(self, time):
        return int(np.searchsorted([begin for _, begin, _ in self.steps], time, side="right")) - 1

    def counted(self):
        """External id of a record -> (step number, its count in the step among the records with the same group, operation and peer)."""
        counts, found = {}, {}
        for external, event in sorted(self.records.items()):
            args = event["args"]
            if "Collective name" in args:
                step = self.steps[max(0, self.step_at(ns(event, self.base)[0]))][0]
                p2p = args["Collective name"] in ("send", "recv")
                key = (step, args["Process Group Name"], args["Collective name"] if p2p else "", args.get("Dst Rank", args.get("Src Rank")))
                found[external] = step, counts.get(key, 0)
                counts[key] = counts.get(key, 0) + 1
        return found

    def collective(self, args, counted):
        """The columns of a collective, from the arguments of its kernel or of its record."""
        name = OURS[args["Collective name"]]
        ranks = self.members[args["Process Group Name"]]
        number, count = counted[args["External id"]]
        row = {"name": self.name_of(name), "kind": COLLECTIVE, "group": self.group_of(self.kinds[args["Process Group Name"]], ranks),
               "seq": args["Seq"] if "Seq" in args else (number << 12) + count}
        if name in ("send", "recv"):
            here, there = ranks.index(self.rank), ranks.index(args["Dst Rank" if name == "send" else "Src Rank"])
            backwards = (there < here) == (name == "send")
            row |= {"kind": P2P, "seq": transfer_number((number << 12) + count, backwards, min(here, there))}
        return row

    def row(self, event, start, end, place, counted):
        args = event["args"]
        launch, step, position, _ = place
        kind = COPY if event["cat"] == "gpu_memcpy" else COMPUTED
        row = {"rank": self.rank, "step": step, "place": position, "kind": kind, "stream": args["stream"], "start": start, "end": end, "launch": launch,
               "group": -1, "seq": 0, "name": self.name_of(event["name"]), "blocks": args["grid"][0] if "grid" in args else 0}
        return row | {"blocks": 0} | self.collective(args, counted) if "Collective name" in args else row

    def lost(self, place, counted):
        """The row of a launch without a device event; its times are absent."""
        launch, step, position, external = place
        row = {"rank": self.rank, "step": step, "place": position, "kind": COMPUTED, "stream": -1, "start": launch, "end": np.nan, "launch": launch,
               "group": -1, "seq": 0, "name": 0, "blocks": 0}
        record = self.records.get(external)
        return row | self.collective(record["args"], counted) if record and "Collective name" in record["args"] else row

    def rows(self, positions):
        places, counts = {}, {}
        for correlation, time, external in self.launches:
            number = self.steps[max(0, self.step_at(time))][0]
            if number in positions:
                places[correlation] = time, positions[number], counts.get(number, 0), external
                counts[number] = counts.get(number, 0) + 1
        counted = self.counted()
        seen = {event[0]["args"]["correlation"]: event for event in self.device}
        return [self.row(*seen[key], place, counted) if key in seen else self.lost(place, counted) for key, place in places.items()]


def numbered():
    """A function that numbers its keys, and the numbers."""
    numbers = {}
    return (lambda *key: numbers.setdefault(key, len(numbers))), numbers


def host_table(world, hosts):
    table = np.arange(world)
    for host, ranks in enumerate(hosts or ()):
        table[list(ranks)] = host
    return table


def of_traces(traces, hosts=None):
    """`hosts`: the ranks of each host; without it each rank has a clock of its own."""
    group_of, groups = numbered()
    name_of, names = numbered()
    found = [RankEvents(trace, group_of, name_of) for trace in traces]
    world = traces[0]["distributedInfo"]["world_size"]
    numbers = sorted(set.intersection(*({number for number, _, _ in one.steps} for one in found)))  # steps that all ranks recorded
    positions = {number: i for i, number in enumerate(numbers)}
    made = {key: nothing(world, len(numbers)) for key in ("begin", "fetched", "done")} | {"pauses": nothing(world, len(numbers), (2,))}
    stage, rows = np.zeros(world, int), []
    for one in found:
        rows += one.rows(positions)
        pipeline = next((ranks for name, ranks in one.members.items() if one.kinds[name].startswith("PIPELINE")), (one.rank,))
        stage[one.rank] = pipeline.index(one.rank)
        for number, begin, end in (row for row in one.steps if row[0] in positions):
            made["begin"][one.rank, positions[number]], made["done"][one.rank, positions[number]] = begin, end
        for name, begin, end in one.ranges:
            position = positions.get(one.steps[max(0, one.step_at(begin))][0])
            if position is None:
                continue
            if name == LOADER:
                made["fetched"][one.rank, position] = end
            elif name in PAUSES:
                made["pauses"][one.rank, position] = begin, end
    part = {column: [row[column] for row in rows] for column in COLUMNS}
    kinds = {description: kind for kind, description in DESCRIPTIONS.items()}
    return joined([part], [(kinds.get(description, description), ranks) for description, ranks in groups], [name for (name,) in names],
                    host=host_table(world, hosts), stage=stage, **made)


def of_folder(folder, read):
    """All files of a folder that `read` can read."""
    told = json.loads((Path(folder) / "truth.json").read_text())
    traces = []
    for path in sorted(Path(folder).glob("*.json.gz")):
        try:
            traces.append(read(path))
        except (EOFError, ValueError):
            continue
    return of_traces(traces, told["ranks_of_hosts"])
