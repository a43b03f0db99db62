"""Recomputes PyTorch's `key_averages()` from the recording alone.

The rules are in README.md ("ops"); this file is their shortest plain form. `averages()` returns every row of PyTorch's host side:
operators, annotations, API calls and profiler overhead. `operators()` keeps the rows of the product's `ops` table: operators and
annotations. The device side (kernels by name) is in timeline.py.
"""

import bisect
from collections import defaultdict
from dataclasses import dataclass, field

from .trace import CALL_CATEGORIES, DEVICE_MEMORY_TYPES, HOST_MEMORY_TYPES

OPERATOR_CATEGORIES = ("cpu_op", "user_annotation")
# Names that PyTorch leaves out of every average (torch/autograd/profiler_util.py, _filter_name).
HIDDEN_NAMES = frozenset((
    "[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
    "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"))


@dataclass(eq=False)
class Node:
    """One host record in the tree PyTorch builds per thread."""

    event: object
    thread: object
    owner_id: object  # the id under which device work is credited to this record; None for linked calls
    device_own: int = 0
    host_bytes: int = 0
    device_bytes: int = 0
    parent: object = None
    children: list = field(default_factory=list)

    @property
    def device_total(self):
        return self.device_own + sum(child.device_total for child in self.children)


@dataclass
class Average:
    name: str
    category: str
    count: int = 0
    cpu_total: int = 0
    cpu_self: int = 0
    device_total: int = 0
    device_self: int = 0
    host_bytes: int = 0
    host_bytes_self: int = 0
    device_bytes: int = 0
    device_bytes_self: int = 0


def link(event):
    """The id of the operator a record was linked to, or None.

    Older Kineto wrote a record's own correlation id as "External id" when it had no link at all.
    """
    return None if event.external_id == event.correlation else event.external_id


def averages(trace):
    nodes = _host_nodes(trace)
    _nest(nodes)
    _credit_device_work(trace, nodes)
    _credit_memory(trace, nodes)
    nodes = _merge_wrappers(nodes)
    return _group(nodes)


def operators(trace):
    rows = averages(trace)
    return {key: row for key, row in rows.items() if row.category in OPERATOR_CATEGORIES}


# Nodes ----------------------------------------------------------------------------------------------------------


def _host_nodes(trace):
    by_id = {e.external_id: e for e in trace.of(*OPERATOR_CATEGORIES)}
    stopper = _stopping_thread(trace.events)
    stopper_of = {pid: _stopping_thread([e for e in trace.events if e.pid == pid]) for pid in {e.pid for e in trace.events}}
    nodes = []
    for event in trace.events:
        if event.name in HIDDEN_NAMES:
            continue
        if event.category in OPERATOR_CATEGORIES:
            nodes.append(Node(event, event.thread, event.external_id))
        elif event.is_call and link(event) in by_id and link(event) is not None:
            nodes.append(Node(event, by_id[link(event)].thread, None))
        elif event.is_call and event.external_id is not None:
            nodes.append(Node(event, event.thread, None))
        elif event.is_call:
            nodes.append(Node(event, stopper_of[event.pid] or event.thread, event.correlation))
        elif event.category == "overhead":
            nodes.append(Node(event, stopper, None))
    _adopt_overhead_ids(nodes)
    return nodes


def _stopping_thread(events):
    """The thread that stopped the profiler: PyTorch puts records without a thread of their own there."""
    candidates = [e for e in events if e.category in OPERATOR_CATEGORIES]
    steps = [e for e in candidates if e.name.startswith("ProfilerStep#")]
    main = [e for e in candidates if e.pid == e.tid]
    first = min(steps or main or candidates, key=lambda e: e.start, default=None)
    return first.thread if first else None


def _adopt_overhead_ids(nodes):
    """An overhead record has no id, so PyTorch gives it the id of the record that was open when it began."""
    for overhead in (n for n in nodes if n.event.category == "overhead"):
        at = overhead.event.start
        open_now = [n for n in nodes if n.thread == overhead.thread and n is not overhead
                    and not (n.event.is_call and n.owner_id is None)
                    and n.event.start <= at <= n.event.end]
        open_now.sort(key=order)
        innermost = open_now[-1] if open_now else None
        overhead.owner_id = innermost.owner_id if innermost else None


# Tree -----------------------------------------------------------------------------------------------------------


def order(node):
    """Outer before inner. Of two that begin and end together, the outer operator has the smaller id; calls are innermost."""
    event = node.event
    is_operator = event.category in OPERATOR_CATEGORIES
    return event.start, -event.end, not is_operator, event.external_id if is_operator else 0


def _nest(nodes):
    threads = defaultdict(list)
    for node in nodes:
        threads[node.thread].append(node)
    for members in threads.values():
        members.sort(key=order)
        open_nodes = []
        for node in members:
            while open_nodes and (node.event.start >= open_nodes[-1].event.end
                                  or node.event.end > open_nodes[-1].event.end):
                open_nodes.pop()
            if open_nodes:
                node.parent = open_nodes[-1]
                node.parent.children.append(node)
            open_nodes.append(node)


def _merge_wrappers(nodes):
    """A record whose parent has the same name and no other child is dropped; the parent inherits its work."""
    nodes = sorted(nodes, key=order)
    while True:
        kept = []
        for node in nodes:
            parent = node.parent
            if parent is not None and _name(parent) == _name(node) and len(parent.children) == 1:
                parent.children = node.children
                parent.device_own = node.device_own
                for child in node.children:
                    child.parent = parent
            else:
                kept.append(node)
        if len(kept) == len(nodes):
            return kept
        nodes = kept


def _name(node):
    name = node.event.name
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


# Attribution ----------------------------------------------------------------------------------------------------


def _credit_device_work(trace, nodes):
    linked = defaultdict(int)
    unlinked = []
    for op in trace.device_ops:
        if link(op) is not None:
            linked[link(op)] += op.dur
        elif op.external_id is not None:
            unlinked.append(op)
    for node in nodes:
        if node.owner_id is not None:
            node.device_own += linked.get(node.owner_id, 0)
    _credit_by_nesting(unlinked, nodes)


def _credit_by_nesting(device_ops, nodes):
    """Recordings of older Kineto carry no link: the operator around the launching call stands in for it."""
    launches = {n.event.correlation: n for n in reversed(nodes) if n.event.is_call}
    for op in device_ops:
        node = launches.get(op.correlation)
        while node is not None and node.event.category != "cpu_op":
            node = node.parent
        if node is not None:
            node.device_own += op.dur


def _credit_memory(trace, nodes):
    """By time alone, over all threads, both ends included: so PyTorch does it."""
    memory = sorted(trace.memory, key=lambda m: m.at)
    times = [m.at for m in memory]
    for node in nodes:
        for m in memory[bisect.bisect_left(times, node.event.start):bisect.bisect_right(times, node.event.end)]:
            node.host_bytes += m.bytes if m.device_type in HOST_MEMORY_TYPES else 0
            node.device_bytes += m.bytes if m.device_type in DEVICE_MEMORY_TYPES else 0


def _group(nodes):
    rows = {}
    for node in nodes:
        kind = node.event.category if node.event.category not in CALL_CATEGORIES else "call"
        key = (_name(node), kind)
        row = rows.setdefault(key, Average(_name(node), node.event.category))
        row.count += 1
        row.cpu_total += node.event.dur
        row.cpu_self += node.event.dur - sum(c.event.dur for c in node.children)
        row.device_total += node.device_total
        row.device_self += node.device_own
        row.host_bytes += node.host_bytes
        row.host_bytes_self += node.host_bytes - sum(c.host_bytes for c in node.children)
        row.device_bytes += node.device_bytes
        row.device_bytes_self += node.device_bytes - sum(c.device_bytes for c in node.children)
    return rows
