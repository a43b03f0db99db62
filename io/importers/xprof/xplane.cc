// Importers for the profiles of JAX and TensorFlow (XProf): `*.xplane.pb`, and the `*.trace.json.gz` derived from it,
// which has less. Planes are devices and the host, lines are streams and threads; an event's statistics say what it is.
// Formats: openxla/xla, xla/tsl/profiler/protobuf/xplane.proto; xprof, trace_events_to_json.
// This file: xplane.pb. In a plane, lines precede the names that they use, so each plane is read twice.
#include <fmt/format.h>

#include <unordered_map>

#include "io/importers/formats.h"
#include "io/importers/row_values.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/protobuf.h"
#include "io/importers/source/read_all.h"
#include "io/importers/xprof/xprof_rows.h"

namespace gpuprof::inline importers {
namespace {

using namespace xprof;

constexpr std::size_t kMaxPlaneBytes = std::size_t{4} << 30;
constexpr std::int64_t kMaxTime = std::int64_t{1} << 60;  // ns; for times of the file and their base

// Field numbers of xplane.proto.
enum Space : std::uint32_t { kPlanes = 1, kHostNames = 4 };
enum Plane : std::uint32_t { kPlaneName = 2, kLines = 3, kEventNames = 4, kStatNames = 5, kPlaneStats = 6 };
enum LineField : std::uint32_t { kLineId = 1, kLineName = 2, kLineStart = 3, kEvents = 4, kDisplayName = 11 };
enum EventField : std::uint32_t { kEventName = 1, kOffset = 2, kDuration = 3, kEventStats = 4 };
enum StatField : std::uint32_t {
    kStatName = 1,
    kReal = 2,
    kUnsigned = 3,
    kSigned = 4,
    kStatText = 5,
    kBytes = 6,
    kRef = 7
};

class XPlaneReader {
public:
    // `besides` is the memory held apart from the rows.
    XPlaneReader(Batch& batch, const Source& source, std::size_t other_bytes)
        : batch_(batch), rows_(batch, programs_), limit_(source), other_bytes_(other_bytes) {}

    void read(std::string_view space) {
        ProtobufFields names(space);
        while (names.next())
            if (names.number() == kHostNames && host_.empty())
                host_ = names.bytes();
            else if (names.number() == kPlanes)
                take_programs(names.bytes());
        ProtobufFields planes(space);
        while (!over_limit_ && planes.next())
            if (planes.number() == kPlanes) plane(planes.bytes());
        if (planes.damaged()) batch_.lose(Loss::truncated, "XSpace");
    }
    TimeNs began() const { return began_; }
    // Whether reading stopped because the rows exceed the memory limit.
    bool over_limit() const { return over_limit_; }
    bool any_plane() const { return planes_ > 0; }

private:
    using Names = std::unordered_map<std::int64_t, std::string_view>;

    // The names in a map from ids to messages whose field 2 is the name.
    void take_name(std::string_view entry, Names& names) {
        ProtobufFields fields(entry);
        std::int64_t id = 0;
        std::string_view name;
        while (fields.next()) {
            if (fields.number() == 1) id = fields.integer();
            if (fields.number() != 2) continue;
            ProtobufFields metadata(fields.bytes());
            while (metadata.next())
                if (metadata.number() == 2) name = metadata.bytes();
        }
        names[id] = name;
        constexpr std::size_t kBytesPerName = 64;
        over_limit_ = over_limit_ || limit_.is_below(batch_, other_bytes_ + names.size() * kBytesPerName);
    }
    // The HLO of each program is a statistic of a name in the plane /host:metadata.
    void take_programs(std::string_view plane) {
        constexpr std::uint32_t kNameStats = 5;
        ProtobufFields fields(plane);
        Names stat_names;
        bool is_metadata = false;
        while (fields.next()) {
            if (fields.number() == kPlaneName) is_metadata = fields.bytes() == "/host:metadata";
            if (fields.number() == kStatNames) take_name(fields.bytes(), stat_names);
        }
        if (!is_metadata) return;
        ProtobufFields entries(plane);
        while (entries.next()) {
            if (entries.number() != kEventNames) continue;
            ProtobufFields entry(entries.bytes());
            while (entry.next()) {
                if (entry.number() != 2) continue;
                std::string_view name, proto;
                ProtobufFields metadata(entry.bytes());
                while (metadata.next()) {
                    if (metadata.number() == 2) name = metadata.bytes();
                    if (metadata.number() != kNameStats) continue;
                    ProtobufFields stat(metadata.bytes());
                    std::string_view called;
                    while (stat.next()) {
                        if (stat.number() == kStatName) called = name_of(stat_names, stat.integer());
                        if (stat.number() == kBytes && called == "Hlo Proto") proto = stat.bytes();
                    }
                }
                if (!proto.empty()) programs_.add(name, proto);
            }
        }
    }
    static std::string_view name_of(const Names& names, std::int64_t id) {
        auto known = names.find(id);
        return known == names.end() ? std::string_view() : known->second;
    }

    Stat stat(std::string_view message, const Names& names) const {
        Stat stat;
        ProtobufFields fields(message);
        while (fields.next()) switch (fields.number()) {
                case kStatName: stat.name = name_of(names, fields.integer()); break;
                case kUnsigned:
                case kSigned: stat.number = fields.integer(); break;
                case kStatText: stat.text = fields.bytes(); break;
                case kRef: stat.text = name_of(names, fields.integer()); break;
                default: break;  // reals and bytes are not used
            }
        return stat;
    }

    void plane(std::string_view message) {
        ++planes_;
        Names event_names, stat_names;
        Event about;  // the plane's own statistics
        ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() == kPlaneName) about.name = fields.bytes();
            if (fields.number() == kEventNames) take_name(fields.bytes(), event_names);
            if (fields.number() == kStatNames) take_name(fields.bytes(), stat_names);
        }
        if (fields.damaged()) batch_.lose(Loss::truncated, about.name);
        ProtobufFields stats(message);
        while (stats.next())
            if (stats.number() == kPlaneStats) about.stats.push_back(stat(stats.bytes(), stat_names));
        describe(about);
        std::optional<std::int32_t> device = device_of(about.name);
        bool wanted = device || about.name.starts_with("/host:CPU") || about.name.starts_with("/host:CUPTI");
        auto pid = about.number("process_id");
        StringId process = pid && wanted ? rows_.process(*pid, host_) : kNoString;
        std::uint64_t unread = 0;
        ProtobufFields lines(message);
        while (!over_limit_ && lines.next()) {
            if (lines.number() != kLines) continue;
            over_limit_ = over_limit_ || limit_.is_below(batch_, other_bytes_);
            if (wanted)
                line(lines.bytes(), device, process, event_names, stat_names);
            else
                ++unread;
        }
        if (unread > 0) batch_.lose_named(Loss::unread_table, "", fmt::format("lines of {}", about.name), unread);
    }

    // Devices, start of the recording, and versions.
    void describe(const Event& plane) {
        if (auto start = plane.number("profile_start_time"); start && *start > 0 && *start < kMaxTime * 2)
            began_ = *start;
        for (std::string_view version : {"jax_version", "jaxlib_version", "cuda_driver_version"})
            if (std::string_view text = plane.text(version); !text.empty()) {
                Row row = batch_.tables.meta.add();
                batch_.tables.meta.key.set(row, batch_.intern(version));
                batch_.tables.meta.value.set(row, batch_.intern(text));
            }
        std::optional<std::int32_t> device = device_of(plane.name);
        if (!device) return;
        DeviceTable& table = batch_.tables.device;
        Row row = table.add();
        table.device.set(row, *device);
        std::string_view vendor = plane.text("device_vendor");
        if (vendor == "Nvidia" || vendor == "AMD")
            table.vendor.set(row, batch_.intern(vendor == "AMD" ? "amd" : "nvidia"));
        set_text(batch_, table.name, row, plane.text("gpu_device_name"));
        set_known(table.memory_bytes, row, plane.number("memory_size"));
        const std::pair<std::string_view, Column<std::int32_t>*> narrow[] = {
            {"core_count", &table.sms}, {"compute_cap_major", &table.cc_major}, {"compute_cap_minor", &table.cc_minor}};
        for (auto [name, column] : narrow)
            if (auto value = plane.number(name); value && *value == static_cast<std::int32_t>(*value))
                column->set(row, static_cast<std::int32_t>(*value));
    }

    void line(std::string_view message, std::optional<std::int32_t> device, StringId process, const Names& event_names,
              const Names& stat_names) {
        std::int64_t id = 0, start = 0;
        std::string_view name, shown;
        ProtobufFields fields(message);
        while (fields.next()) {
            if (fields.number() == kLineId) id = fields.integer();
            if (fields.number() == kLineStart) start = fields.integer();
            if (fields.number() == kLineName) name = fields.bytes();
            if (fields.number() == kDisplayName) shown = fields.bytes();
        }
        Line place = rows_.line(name.empty() ? shown : name, id, device, process);
        ProtobufFields events(message);
        while (!over_limit_ && events.next()) {
            if (events.number() == kEvents) event(events.bytes(), place, start, event_names, stat_names);
            over_limit_ = limit_.is_below(batch_, other_bytes_);
        }
    }

    // Times are in ps from the start of the line.
    void event(std::string_view message, const Line& line, std::int64_t line_start, const Names& event_names,
               const Names& stat_names) {
        Event event;
        std::int64_t offset = 0, duration = 0;
        ProtobufFields fields(message);
        while (fields.next()) switch (fields.number()) {
                case kEventName: event.name = name_of(event_names, fields.integer()); break;
                case kOffset: offset = fields.integer(); break;
                case kDuration: duration = fields.integer(); break;
                case kEventStats: event.stats.push_back(stat(fields.bytes(), stat_names)); break;
                default: break;
            }
        if (fields.damaged()) return batch_.lose(Loss::malformed_event, "XEvent");
        if (line_start <= -kMaxTime || line_start >= kMaxTime || offset / 1000 >= kMaxTime)
            return batch_.lose(Loss::time_out_of_range, "XEvent");
        event.start = line_start + offset / 1000;
        event.dur = duration / 1000;
        rows_.add(line, event);
    }

    Batch& batch_;
    HloNames programs_;
    Rows rows_;
    MemoryLimit limit_;
    std::size_t other_bytes_;
    bool over_limit_ = false;
    std::string_view host_;
    TimeNs began_ = 0;
    std::size_t planes_ = 0;
};

}  // namespace

int sniff_xplane(std::string_view head) {
    if (!head.starts_with('\x0A')) return 0;
    for (std::string_view plane : {"/host:metadata", "/host:CPU", "/device:GPU:", "Task Environment", "/device:TPU:"})
        if (head.find(plane) != head.npos) return 85;
    return 0;
}

Status import_xplane(Source& source, TraceBuilder& builder) {
    Result<std::string> bytes = read_all(source, kMaxPlaneBytes);
    if (!bytes.ok()) return bytes.error();
    Batch batch;
    XPlaneReader reader(batch, source, bytes->size());
    reader.read(*bytes);
    if (reader.over_limit()) return MemoryLimit(source).error();
    if (!reader.any_plane())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: not an XProf profile: no planes", source.name())};
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("XProf");
    builder.set_time_base(reader.began());
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
