#!/usr/bin/env python3
"""Turns a timeline drawn as text into a Kineto trace, so that a person can count what an analysis must say.

    # 1 char = 1 us
    host   main  |L..L......S####......|   L launch, S sync, # waiting
    op     main  |[aten::mm]...........|
    stream 7     |..AAAA..BB...........|
    gpu 1 stream 7 |....hh...............|

A row is a label, cells between the first and the last `|`, and a remark. A comment sets the scale: `1 char = N us` (or ns).
  host THREAD    calls: L cudaLaunchKernel, C cudaMemcpyAsync, P cudaMemcpy, Z cudaMemsetAsync, S cudaStreamSynchronize,
                 D cudaDeviceSynchronize, M cudaMalloc, U cudaMallocManaged, V cudaMemPrefetchAsync, F cudaFree,
                 X a cudaLaunchKernel whose kernel is missing; `#` or `=` goes on with the call before it
  stream N       device ops (of GPU 0; `gpu D stream N` of another): a run of one letter is one op, `=` goes on with it;
                 a capital is the kernel of that name, h HtoD, d DtoH of pinned memory, g HtoD, e DtoH of pageable memory, p DtoD
                 copies of 1000 bytes a cell, m HtoD, n DtoH migrations of managed memory (of no call), z a memset
  op THREAD      framework operators: `[name--]` is a span from bracket to bracket; deeper operators in further rows
                 `[name@7]` has autograd's sequence number 7, `[name<7]` is a backward operator of it
  range THREAD   user annotations, drawn like operators
  python THREAD  Python calls, drawn like operators; `[nn.Module: A_0]` is the call of a module
  overhead THREAD  the recorder's own work, drawn like operators
Calls L, C or P, Z are paired with kernels, copies, memsets in the order of their starts; what is left over stays unpaired.
A kernel N of a row `stream` can be a collective: the row `name A = ncclDevKernel_AllReduce` renames a letter. A launch has one block of
128 threads; the row `shape A = 16 x 256` says blocks and threads of a block, `shape A = none` that no shape was recorded;
`message A = allreduce 4096 Float 8` says what a library recorded of a collective: its kind, elements, their type, and ranks;
`uses A = 200 + 49152` says registers of a thread and bytes of shared memory, `bytes d = 64000` those that a cell of such a copy stands for. The device has 100 multiprocessors and compute
capability 9.0; the row `device = 7.0 Tesla V100` says another, `device = none` that nothing of it was recorded,
`device = 9.0 ""` that it has no name. `fact KEY = VALUE` is a row of the table meta.
"""

import json
import re
import sys

CALLS = {"L": "cudaLaunchKernel", "C": "cudaMemcpyAsync", "P": "cudaMemcpy", "Z": "cudaMemsetAsync",
         "S": "cudaStreamSynchronize", "D": "cudaDeviceSynchronize", "M": "cudaMalloc", "U": "cudaMallocManaged",
         "V": "cudaMemPrefetchAsync", "F": "cudaFree", "X": "cudaLaunchKernel"}
LAUNCHES = {"L": "kernel", "C": "gpu_memcpy", "P": "gpu_memcpy", "Z": "gpu_memset"}
COPIES = {"h": "Memcpy HtoD (Pinned -> Device)", "d": "Memcpy DtoH (Device -> Pinned)", "p": "Memcpy DtoD (Device -> Device)",
          "g": "Memcpy HtoD (Pageable -> Device)", "e": "Memcpy DtoH (Device -> Pageable)",
          "m": "Memcpy HtoD (Managed -> Managed)", "n": "Memcpy DtoH (Managed -> Managed)"}
SPANS = {"op": "cpu_op", "python": "python_function", "range": "user_annotation", "overhead": "overhead"}
SEQUENCE = re.compile(r"(.*?)(?:([@<])(\d+))?")
PROCESS = 100
BASE_US = 1000


class DrawingError(ValueError):
    pass


def runs(cells, single=""):
    """(letter, first cell, cells) of each run; `#` and `=` lengthen the run before them. Letters of `single` do not run."""
    out = []
    for at, cell in enumerate(cells):
        if cell in "#=":
            if not out or out[-1][1] + out[-1][2] != at:
                raise DrawingError(f"`{cell}` at {at} has nothing to go on with: {cells}")
            out[-1][2] += 1
        elif cell not in ". ":
            if out and out[-1][0] == cell and out[-1][1] + out[-1][2] == at and cells[at - 1] == cell and cell not in single:
                out[-1][2] += 1
            else:
                out.append([cell, at, 1])
    return out


class Drawing:
    def __init__(self, text):
        self.scale = 1.0  # us a cell
        self.events, self.names, self.threads, self.devices, self.messages = [], {}, {}, set(), {}
        self.shapes = {}  # letter -> blocks, threads of a block; None: not recorded
        self.bytes = {}  # letter of a copy -> bytes of a cell
        self.uses = {}  # letter -> registers, bytes of shared memory
        self.device = ("9.0", "Drawn GPU")
        self.facts = {}
        for line in text.splitlines():
            self.take(line)
        self.pair()

    def take(self, line):
        if line.startswith("#"):
            scale = re.search(r"1 char = (\d+) (us|ns)", line)
            if scale:
                self.scale = int(scale.group(1)) / (1 if scale.group(2) == "us" else 1000)
            return
        if not line.strip():
            return
        renamed = re.fullmatch(r"name (\w) = (.+)", line.strip())
        if renamed:
            self.names[renamed.group(1)] = renamed.group(2)
            return
        message = re.fullmatch(r"message (\w) = (\w+) (\d+) (\w+) (\d+)", line.strip())
        if message:
            letter, kind, elements, kind_of_element, ranks = message.groups()
            self.messages[letter] = {"Collective name": kind, "In msg nelems": int(elements), "Out msg nelems": int(elements),
                                     "dtype": kind_of_element, "Group size": int(ranks)}
            return
        shaped = re.fullmatch(r"shape (\w) = (\d+) x (\d+)", line.strip())
        if shaped:
            self.shapes[shaped.group(1)] = int(shaped.group(2)), int(shaped.group(3))
            return
        unshaped = re.fullmatch(r"shape (\w) = none", line.strip())
        if unshaped:
            self.shapes[unshaped.group(1)] = None
            return
        sized = re.fullmatch(r"bytes (\w) = (\d+)", line.strip())
        if sized:
            self.bytes[sized.group(1)] = int(sized.group(2))
            return
        uses = re.fullmatch(r"uses (\w) = (\d+) \+ (\d+)", line.strip())
        if uses:
            self.uses[uses.group(1)] = int(uses.group(2)), int(uses.group(3))
            return
        fact = re.fullmatch(r"fact (\w+) = (.+)", line.strip())
        if fact:
            self.facts[fact.group(1)] = fact.group(2)
            return
        device = re.fullmatch(r"device = (?:none|(\d+\.\d) (.+))", line.strip())
        if device:
            self.device = (device.group(1), device.group(2).strip('"')) if device.group(1) else None
            return
        row = re.fullmatch(r"\s*([^|]+?)\s*\|(.*)\|[^|]*", line)
        if not row:
            raise DrawingError(f"not a row: {line}")
        label, cells = row.group(1).split(), row.group(2)
        if label[0] in ("stream", "gpu"):
            device, stream = (0, label[1]) if label[0] == "stream" else (int(label[1]), label[3])
            self.stream(device, int(stream), cells)
        elif label[0] == "host":
            self.host(label[1], cells)
        elif label[0] in SPANS:
            self.spans(SPANS[label[0]], label[1], cells)
        else:
            raise DrawingError(f"no kind of row: {label[0]}")

    def add(self, category, name, pid, tid, first, cells, **args):
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                 "ts": BASE_US + round(first * self.scale, 3), "dur": round(cells * self.scale, 3), "args": args}
        self.events.append(event)
        return event

    def thread(self, name):
        return self.threads.setdefault(name, PROCESS + len(self.threads))

    def host(self, thread, cells):
        for letter, first, length in runs(cells, single="".join(CALLS)):
            if letter not in CALLS:
                raise DrawingError(f"no call is drawn as {letter}")
            self.add("cuda_runtime", CALLS[letter], PROCESS, self.thread(thread), first, length)["drawn"] = letter

    def spans(self, category, thread, cells):
        for span in re.finditer(r"\[([^\]]*)\]", cells):
            name, kind, number = SEQUENCE.fullmatch(span.group(1).strip("-")).groups()
            sequence = {"Sequence number": int(number), "Fwd thread id": int(kind == "<")} if number else {}
            self.add(category, name, PROCESS, self.thread(thread), span.start(), span.end() - span.start(), **sequence)

    def stream(self, device, stream, cells):
        self.devices.add(device)
        for letter, first, length in runs(cells):
            place = {"device": device, "context": 1, "stream": stream}
            if letter in COPIES:
                self.add("gpu_memcpy", COPIES[letter], device, stream, first, length, **place, bytes=self.bytes.get(letter, 1000) * length)
            elif letter == "z":
                self.add("gpu_memset", "Memset (Device)", device, stream, first, length, **place, bytes=1000 * length)
            elif letter.isupper():
                shape = self.shape_of(letter)
                self.add("kernel", self.names.get(letter, letter), device, stream, first, length, **place, **shape, **self.messages.get(letter, {}))
            else:
                raise DrawingError(f"no device op is drawn as {letter}")

    def shape_of(self, letter):
        found = self.shapes.get(letter, (1, 128))
        registers, shared = self.uses.get(letter, (32, 0))
        return {"grid": [found[0], 1, 1], "block": [found[1], 1, 1], "registers per thread": registers, "shared memory": shared} if found else {}

    def number_operators(self):
        """As PyTorch does: each operator an id, each call and its device op the id of the innermost operator around it."""
        operators = [e for e in self.events if e["cat"] == "cpu_op"]
        for number, operator in enumerate(operators, 1):
            operator["args"]["External id"] = number
        for call in self.events:
            around = [o for o in operators if "drawn" in call and o["tid"] == call["tid"] and o["ts"] <= call["ts"] < o["ts"] + o["dur"]]
            if around:
                call["args"]["External id"] = around[-1]["args"]["External id"]

    def pair(self):
        self.events.sort(key=lambda e: (e["ts"], -e["dur"]))
        self.number_operators()
        waiting = {category: [e for e in self.events if e["cat"] == category and "Managed" not in e["name"]]
                   for category in set(LAUNCHES.values())}
        number = 0
        for event in self.events:
            letter = event.pop("drawn", None)
            if letter is None:
                continue
            number += 1
            event["args"]["correlation"] = number
            operations = waiting.get(LAUNCHES.get(letter), [])
            if operations:
                operations.pop(0)["args"] |= event["args"]

    def trace(self):
        major, minor = self.device[0].split(".") if self.device else ("0", "0")
        properties = [{"id": d, "name": self.device[1], "totalGlobalMem": 1 << 30, "computeMajor": int(major), "computeMinor": int(minor),
                       "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536,
                       "regsPerMultiprocessor": 65536, "warpSize": 32, "sharedMemPerBlock": 49152,
                       "sharedMemPerMultiprocessor": 233472, "numSms": 100, "sharedMemPerBlockOptin": 232448}
                      for d in sorted(self.devices) if self.device]
        names = [{"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": tid, "ts": 0, "args": {"name": f"thread {tid} ({name})"}}
                 for name, tid in self.threads.items()]
        return {"schemaVersion": 1, **self.facts, "deviceProperties": properties, "traceEvents": names + self.events}


def kineto_of(text):
    return json.dumps(Drawing(text).trace(), indent=1)


def main():
    if len(sys.argv) != 2:
        print("usage: drawn.py TIMELINE > TRACE.json", file=sys.stderr)
        return 2
    with open(sys.argv[1]) as file:
        print(kineto_of(file.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
