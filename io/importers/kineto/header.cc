#include "io/importers/kineto/header.h"

#include <limits>

#include "io/importers/kineto/key_table.h"
#include "io/importers/kineto/kineto_number.h"
#include "io/importers/kineto/members.h"

namespace gpuprof::inline importers::kineto {
namespace {

enum class Property {
    id,
    name,
    memory,
    major,
    minor,
    threads_block,
    threads_sm,
    registers_block,
    registers_sm,
    warp,
    shared_block,
    shared_sm,
    shared_optin,
    sms,
    uuid,
    unknown
};

// Keys of one entry of "deviceProperties"; ROCm spells the shared memory of a compute unit differently.
constexpr KeyName<Property> kPropertyNames[] = {
    {"id", Property::id},
    {"name", Property::name},
    {"totalGlobalMem", Property::memory},
    {"computeMajor", Property::major},
    {"computeMinor", Property::minor},
    {"maxThreadsPerBlock", Property::threads_block},
    {"maxThreadsPerMultiprocessor", Property::threads_sm},
    {"regsPerBlock", Property::registers_block},
    {"regsPerMultiprocessor", Property::registers_sm},
    {"warpSize", Property::warp},
    {"sharedMemPerBlock", Property::shared_block},
    {"sharedMemPerMultiprocessor", Property::shared_sm},
    {"maxSharedMemoryPerMultiProcessor", Property::shared_sm},
    {"sharedMemPerBlockOptin", Property::shared_optin},
    {"numSms", Property::sms},
    {"uuid", Property::uuid},
};
constexpr KeyTable kProperties(kPropertyNames);

std::string_view vendor_of(std::string_view name) {
    for (std::string_view mark : {"AMD", "Radeon", "Instinct", "gfx"})
        if (name.find(mark) != std::string_view::npos) return "amd";
    for (std::string_view mark :
         {"NVIDIA", "Tesla", "GeForce", "Quadro", "TITAN", "RTX", "A100", "V100", "H100", "A10", "A30", "A40", "T4"})
        if (name.find(mark) != std::string_view::npos) return "nvidia";
    return {};
}

void put_name(DeviceTable& device, Row row, const RawValue& value, Batch& rows) {
    std::string scratch;
    bool clean = true;
    std::string_view name = decode_string(value, scratch, clean);
    device.name.set(row, rows.intern(name));
    if (std::string_view vendor = vendor_of(name); !vendor.empty()) device.vendor.set(row, rows.intern(vendor));
}

template <class T>
void put_number(Column<T>& column, Row row, std::int64_t value) {
    if (column.size() > row || value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return;
    column.set(row, static_cast<T>(value));
}

void put_property(DeviceTable& device, Row row, Property property, const RawValue& value, Batch& rows) {
    if (property == Property::name && value.is_string() && device.name.size() <= row)
        return put_name(device, row, value, rows);
    if (property == Property::uuid && value.is_string() && device.uuid.size() <= row)
        return device.uuid.set(row, rows.intern(value.text()));
    std::int64_t n = 0;
    if (parse_integer(value.text(), n) != Number::ok) return;
    switch (property) {
        case Property::id: return put_number(device.device, row, n);
        case Property::memory: return put_number(device.memory_bytes, row, n);
        case Property::major: return put_number(device.cc_major, row, n);
        case Property::minor: return put_number(device.cc_minor, row, n);
        case Property::threads_block: return put_number(device.max_threads_per_block, row, n);
        case Property::threads_sm: return put_number(device.max_threads_per_sm, row, n);
        case Property::registers_block: return put_number(device.registers_per_block, row, n);
        case Property::registers_sm: return put_number(device.registers_per_sm, row, n);
        case Property::warp: return put_number(device.warp_size, row, n);
        case Property::shared_block: return put_number(device.shared_bytes_per_block, row, n);
        case Property::shared_sm: return put_number(device.shared_bytes_per_sm, row, n);
        case Property::shared_optin: return put_number(device.shared_bytes_per_block_optin, row, n);
        case Property::sms: return put_number(device.sms, row, n);
        default: return;
    }
}

// Scans the values of the object or array `value`, which scan_nested accepted, and passes each to visit(key, value).
template <class Visit>
void each_member(const RawValue& value, Visit visit) {
    const char* p = value.begin;
    if (value.kind != ValueKind::nested || *p != '{') return;
    (void)scan_members(p, value.end, [&](const RawValue& key) {
        RawValue member;
        bool too_deep = false;
        Scan scan = scan_value(p, value.end, member, too_deep);
        if (scan == Scan::ok) visit(key.text(), member);
        return scan;
    });
}

// The same for the elements of an array that are objects or arrays: visit(element).
template <class Visit>
void each_entry(const RawValue& value, Visit visit) {
    const char* p = value.begin;
    if (value.kind != ValueKind::nested || *p != '[') return;
    (void)scan_elements(p, value.end, [&] {
        RawValue entry;
        bool too_deep = false;
        Scan scan = scan_value(p, value.end, entry, too_deep);
        if (scan == Scan::ok && entry.kind == ValueKind::nested) visit(entry);
        return scan;
    });
}

void read_devices(const RawValue& value, Batch& rows) {
    each_entry(value, [&](const RawValue& entry) {
        DeviceTable& device = rows.tables.device;
        Row row = device.add();
        each_member(entry, [&](std::string_view key, const RawValue& member) {
            put_property(device, row, kProperties.find(key, Property::unknown), member, rows);
        });
    });
}

std::string text_of(const RawValue& value) {
    std::string scratch;
    bool clean = true;
    return std::string(value.is_string() ? decode_string(value, scratch, clean) : value.text());
}

void add_meta(std::string_view key, const RawValue& value, Batch& rows) {
    MetaTable& meta = rows.tables.meta;
    Row row = meta.add();
    meta.key.set(row, rows.intern(key));
    meta.value.set(row, rows.intern(text_of(value)));
}

// Whether the value is an integer, which is then stored in `into`.
bool take_integer(const RawValue& value, std::optional<std::int64_t>& into) {
    std::int64_t n = 0;
    bool ok = parse_integer(value.text(), n) == Number::ok;
    if (ok) into = n;
    return ok;
}

void read_groups(const RawValue& value, Block& block) {
    each_entry(value, [&](const RawValue& entry) {
        GroupEntry group;
        each_member(entry, [&](std::string_view key, const RawValue& member) {
            if (key == "pg_name") group.name = text_of(member);
            if (key == "ranks") group.ranks = text_of(member);
            if (key == "pg_size") (void)take_integer(member, group.size);
        });
        block.groups.push_back(std::move(group));
    });
}

bool read_job(const RawValue& value, Block& block) {
    bool ok = true;
    each_member(value, [&](std::string_view key, const RawValue& member) {
        if (key == "rank") ok &= take_integer(member, block.rank);
        if (key == "world_size") ok &= take_integer(member, block.world_size);
        if (key == "pg_config") read_groups(member, block);
        add_meta("distributedInfo." + std::string(key), member, block.rows);
    });
    return ok;
}

}  // namespace

bool read_header_member(std::string_view key, const RawValue& value, Block& block) {
    if (key == "deviceProperties") {
        read_devices(value, block.rows);
        return true;
    }
    if (key == "distributedInfo") return read_job(value, block);
    if (key == "host_name" && value.is_string()) block.host = text_of(value);
    add_meta(key, value, block.rows);
    return key != "baseTimeNanoseconds" || take_integer(value, block.base_time);
}

}  // namespace gpuprof::importers::kineto
