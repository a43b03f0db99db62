"""Perfetto traces as several tools write them, from Perfetto's own schema and, for extensions, field by field."""

import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    """A field of a message: an integer, a text, or a message of fields as a list of pairs."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else message(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(pairs):
    return b"".join(field(number, value) for number, value in pairs)


class Trace:
    """Packets of one sequence, whose state begins with the first."""

    def __init__(self, clocks=((6, 0), (1, 0))):
        self.trace, self.raw, self.ids = schema.Trace(), [], {}
        packet = self.packet()
        for clock, time in clocks:
            packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=time)
        self.packet(flags=1)

    def packet(self, time=None, flags=2, sequence=1):
        packet = self.trace.packet.add(trusted_packet_sequence_id=sequence, sequence_flags=flags)
        if time is not None:
            packet.timestamp = time
        return packet

    def track(self, uuid, name="", parent=0, pid=None, tid=None, process="", thread="", unit=None):
        track = self.trace.packet.add().track_descriptor
        track.uuid, track.name = uuid, name
        if parent:
            track.parent_uuid = parent
        if tid is not None:
            track.thread.pid, track.thread.tid, track.thread.thread_name = pid, tid, thread
        elif pid is not None:
            track.process.pid, track.process.process_name = pid, process
        if unit is not None:
            track.counter.unit_name = unit

    def note(self, event, key, value):
        annotation = event.debug_annotations.add(name=key)
        if isinstance(value, str):
            annotation.string_value = value
        elif isinstance(value, float):
            annotation.double_value = value
        else:
            annotation.int_value = value

    def begin(self, track, time, name, category="", flow=None, **notes):
        event = self.packet(time).track_event
        event.type, event.track_uuid, event.name = BEGIN, track, name
        if category:
            event.categories.append(category)
        if flow is not None:
            event.flow_ids.append(flow)
        for key, value in notes.items():
            self.note(event, key, value)

    def end(self, track, time):
        event = self.packet(time).track_event
        event.type, event.track_uuid = END, track

    def slice(self, track, start, end, name, category="", flow=None, **notes):
        self.begin(track, start, name, category, flow, **notes)
        self.end(track, end)

    def count(self, track, time, value):
        event = self.packet(time).track_event
        event.type, event.track_uuid, event.double_counter_value = COUNTER, track, value

    def bytes(self):
        return self.trace.SerializeToString() + b"".join(field(1, packet) for packet in self.raw)

    def packed(self):
        """The same in one compressed packet."""
        return field(1, [(50, zlib.compress(self.bytes()))])


def rocprofv3():
    trace = Trace(((6, 1_000), (1, 1_765_000_000_000_000_000)))
    trace.track(99, pid=908)
    trace.track(111, parent=99, pid=908, tid=909)
    trace.track(5000, 'STREAM [" 5 "] ')
    trace.track(7001, "COPY BYTES to GPU [2] (GPU)", unit="bytes")
    for n in range(3):
        start = 1_000_000 + 10_000 * n
        trace.slice(111, start - 3_000, start - 1_000, "hipLaunchKernel", "hip_api", corr_id=n + 1)
        trace.slice(5000, start, start + 4_001, "copy()", "kernel_dispatch", agent="Agent-2", agent_type="(GPU)", corr_id=n + 1, delta_ns=4_001, VGPR_Count=24, LDS_Block_Size=512,
                    Scratch_Size=16, workgroup_size=128, grid_size=4000, stream_ID=5, **({"SQ_WAVES": 303.5} if n == 0 else {}))
    trace.slice(5000, 985_000, 988_000, "MEMORY_COPY_HOST_TO_DEVICE", "memory_copy", src_agent="Agent-0", dst_agent="Agent-2", copy_bytes=4096, corr_id=50, stream_ID=5)
    trace.slice(111, 980_000, 990_000, "hipMemcpyAsync", "hip_api", corr_id=50)
    trace.slice(111, 970_000, 1_050_000, "forward", "marker_api", corr_id=60)
    trace.count(7001, 985_000, 4.0)
    return trace


def wprof():
    trace = Trace(((6, 0), (1, 5_000_000)))
    trace.track(50, "CUDA")
    trace.track(60, pid=446, tid=447, thread="main")
    trace.track(61, "CUDA", parent=60)
    trace.track(62, "CUDA again", parent=60)
    trace.track(70, "GPU #1", parent=50)
    trace.track(1007, "Stream #7 (main 446)", parent=70)
    flow = 446 << 32 | 17
    for track in (61, 62):
        trace.slice(track, 100, 200, "cudaLaunchKernel_v7000", "CUDA_API", flow=flow)
    trace.slice(1007, 300, 450, "saxpy", "CUDA_KERNEL", flow=flow, mangled_name="_Z5saxpyifPKfPf", device_id=1, stream_id=7, context_id=1, grid_x=10, grid_y=1, grid_z=1, block_x=256, block_y=2,
                block_z=1)
    trace.slice(1007, 500, 600, "memcpy:HtoD", "CUDA_MEMCPY", flow=flow + 1, byte_cnt=64, kind="HtoD", src_kind="pinned", dst_kind="device", device_id=1, stream_id=7)
    return trace


def proton():
    trace = Trace()
    trace.track(1, "Trace", pid=0, process="Trace")
    trace.track(1012, "CPU Thread 12", parent=1)
    trace.track(201007, "GPU Stream 7", parent=1)
    trace.slice(1012, 0, 120_500, "forward", "scope")
    trace.slice(201007, 15_000, 35_480, "matmul_kernel", "kernel")
    trace.slice(201007, 43_000, 43_500, "<metric>", "kernel")
    return trace


def cuspy():
    """Render stages with extensions that the published schema lacks, and host slices whose file order is not that of time."""
    trace = Trace(((6, 1_000_000), (1, 1_000_000)))
    trace.track(1, pid=446, process="python")
    trace.track(2, parent=1, pid=446, tid=447, thread="main")
    trace.track(3, pid=0x7FFFFFFF, process="Overhead")
    trace.track(4, parent=3, pid=0x7FFFFFFF, tid=0)
    trace.track(5, pid=0, process="GPU 0")
    trace.track(6, parent=5, pid=0, tid=7, thread="stream 7")
    interned = [(24, [(1, n + 1), (2, name)]) for n, name in enumerate(("Kernel", "Memcpy", "Memset", "Annotation"))]
    interned += [(1000, [(1, 1), (2, "short"), (3, "saxpy(int)")]), (1001, [(1, 1), (2, "registers_per_thread")]), (1001, [(1, 2), (2, "shared_mem_dynamic")]),
                 (47, [(1, 1), (2, [(1, [(1, 0), (2, "Power (W)")]), (1, [(1, 3), (2, "Cycles (Current Kernel)")])])])]
    trace.raw.append(message([(10, 1), (13, 2), (12, interned)]))

    def stage(time, kind, dur, extra, *more):
        texts = [(6, [(1, key), (2, str(value))]) for key, value in extra.items()]
        trace.raw.append(message([(8, time), (10, 1), (13, 2), (53, [(1, 1), (2, dur), (11, 0), (13, 100), (14, kind), *texts, *more])]))

    launch = (21, [(1, [(1, 64), (2, 1), (3, 1)]), (2, [(1, 256), (2, 1), (3, 1)]), (3, [(1, 1), (4, 24)]), (3, [(1, 2), (4, 512)])])
    stage(2_000, 1, 300, {"device id": 0, "context id": 1, "stream id": 7, "correlation": 9, "graph id": 7, "graph node id": 2, "process_id": 446}, (19, 1), launch)
    stage(2_300, 1, 100, {"device id": 0, "stream id": 7, "correlation": 10}, (19, 1), launch)
    stage(3_000, 2, 50, {"device id": 0, "stream id": 7, "correlation": 11, "bytes": 4096})
    stage(4_000, 3, 10, {"device id": 0, "stream id": 7, "bytes": 64})
    stage(1_900, 4, 900, {"stream id": 7}, (17, "step"))
    trace.raw.append(message([(8, 2_000), (10, 1), (13, 2), (52, [(2, [(1, 0), (2, 300)]), (2, [(1, 3), (2, 999)]), (3, 0), (4, 1)])]))
    trace.begin(2, 1_500, "aten::mm", "cpu_op")
    trace.begin(2, 1_000, "ProfilerStep#1", "user_annotation")
    trace.end(2, 1_700)
    trace.end(2, 5_000)
    trace.slice(2, 1_600, 1_650, "cudaLaunchKernel", "cuda_runtime", correlation=9)
    trace.slice(4, 100, 200, "flush")
    trace.slice(6, 5_000, 5_100, "Stream Sync", cuda_sync_kind="Stream Sync", correlation=12, device=0, stream=7, context=1)
    return trace
