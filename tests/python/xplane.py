"""XSpace (xplane.pb) by Google's protobuf library: the messages of tsl/profiler/protobuf/xplane.proto, declared by hand."""

from messages import declare

FIELDS = {
    "XSpace": [("planes", 1, "XPlane", True), ("hostnames", 4, "string", True)],
    "XPlane": [("id", 1, "int64", False), ("name", 2, "string", False), ("lines", 3, "XLine", True), ("event_metadata", 4, "EventEntry", True),
               ("stat_metadata", 5, "StatEntry", True), ("stats", 6, "XStat", True)],
    "XLine": [("id", 1, "int64", False), ("name", 2, "string", False), ("timestamp_ns", 3, "int64", False), ("events", 4, "XEvent", True),
              ("duration_ps", 9, "int64", False), ("display_id", 10, "int64", False), ("display_name", 11, "string", False)],
    "XEvent": [("metadata_id", 1, "int64", False), ("offset_ps", 2, "int64", False), ("duration_ps", 3, "int64", False), ("stats", 4, "XStat", True)],
    "XStat": [("metadata_id", 1, "int64", False), ("double_value", 2, "double", False), ("uint64_value", 3, "uint64", False), ("int64_value", 4, "int64", False),
              ("str_value", 5, "string", False), ("bytes_value", 6, "bytes", False), ("ref_value", 7, "uint64", False)],
    "XEventMetadata": [("id", 1, "int64", False), ("name", 2, "string", False), ("display_name", 4, "string", False), ("stats", 5, "XStat", True)],
    "XStatMetadata": [("id", 1, "int64", False), ("name", 2, "string", False)],
    "EventEntry": [("key", 1, "int64", False), ("value", 2, "XEventMetadata", False)],
    "StatEntry": [("key", 1, "int64", False), ("value", 2, "XStatMetadata", False)],
}


XSpace = declare("xprof", FIELDS, "XSpace")

# Of xla/service/hlo.proto, what names of kernels need.
HloProto = declare("hlo", {
    "HloProto": [("hlo_module", 1, "HloModuleProto", False)],
    "HloModuleProto": [("name", 1, "string", False), ("computations", 3, "HloComputationProto", True)],
    "HloComputationProto": [("name", 1, "string", False), ("instructions", 2, "HloInstructionProto", True)],
    "HloInstructionProto": [("name", 1, "string", False), ("opcode", 2, "string", False), ("metadata", 7, "OpMetadata", False)],
    "OpMetadata": [("op_type", 1, "string", False), ("op_name", 2, "string", False)],
}, "HloProto")


def stat_value(plane_stats, stat):
    for name in ("double_value", "uint64_value", "int64_value", "str_value"):
        if stat.HasField(name):
            return getattr(stat, name)
    return plane_stats.get(stat.ref_value) if stat.HasField("ref_value") else None


def events(space):
    """(plane name, line, event name, start in ns as a fraction, duration in ns, stats) of every event."""
    for plane in space.planes:
        names = {entry.key: entry.value for entry in plane.event_metadata}
        stats = {entry.key: entry.value.name for entry in plane.stat_metadata}
        for line in plane.lines:
            for event in line.events:
                found = {stats.get(stat.metadata_id): stat_value(stats, stat) for stat in event.stats}
                yield plane.name, line, names[event.metadata_id].name, line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps, found


def instructions(space):
    """{program: {kernel name: (instruction, operator)}} of the programs' HLO, without names that several instructions give."""
    found = {}
    for plane in space.planes:
        if plane.name != "/host:metadata":
            continue
        for entry in plane.event_metadata:
            for stat in (stat for stat in entry.value.stats if stat.HasField("bytes_value")):
                hlo = HloProto()
                hlo.ParseFromString(stat.bytes_value)
                names = {}
                for computation in hlo.hlo_module.computations:
                    for instruction in computation.instructions:
                        kernel = "".join(c if c.isascii() and c.isalnum() else "_" for c in instruction.name)
                        names.setdefault(kernel, set()).add((instruction.name, instruction.metadata.op_name))
                found[entry.value.name] = {kernel: next(iter(made)) for kernel, made in names.items() if len(made) == 1}
    return found
