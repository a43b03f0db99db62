#include "io/importers/amd_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/text/ascii.h"
#include "core/model/cuda_memory.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::amd {

std::string api_of(std::string_view category) {
    if (category.find("_API") == category.npos || category.starts_with("MARKER")) return "";
    std::string api(category.substr(0, category.find('_')));
    for (char& c : api) c = to_lower(c);
    return api;
}

std::string_view copy_kind(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"HOST_TO_DEVICE", "HtoD"}, {"DEVICE_TO_HOST", "DtoH"}, {"DEVICE_TO_DEVICE", "DtoD"}, {"HOST_TO_HOST", "HtoH"}};
    for (auto [theirs, ours] : kKinds)
        if (name.ends_with(theirs)) return ours;
    return "";
}

void put_copy_ends(Batch& batch, Row copy, bool reads, bool writes, bool peer) {
    MemcpyTable& table = batch.tables.memcpy;
    std::string_view kind = peer ? "PtoP" : !reads && !writes ? "HtoH" : !reads ? "HtoD" : !writes ? "DtoH" : "DtoD";
    table.kind.set(copy, batch.intern(kind));
    table.src.set(copy, batch.intern(reads ? "device" : "host"));
    table.dst.set(copy, batch.intern(writes ? "device" : "host"));
}

void lose_untraced_copies(Batch& batch, std::uint64_t calls) {
    if (calls > 0) batch.lose(Loss::untraced_copy, "rocprofv3: add --memory-copy-trace or --sys-trace", calls);
}

void add_gpu(Batch& batch, std::int32_t number, std::string_view name, const simdjson::dom::element& facts) {
    DeviceTable& table = batch.tables.device;
    Row row = table.add();
    table.device.set(row, number);
    table.vendor.set(row, batch.intern("amd"));
    set_text(batch, table.name, row, name);
    auto fact = [&](const simdjson::dom::element& of, std::string_view key) {
        std::int64_t value = 0;
        return of[key].get(value) == simdjson::SUCCESS && value > 0 && value < std::int64_t{1} << 50 ? value : 0;
    };
    auto narrow = [&](Column<std::int32_t>& column, std::int64_t value) {
        if (value > 0 && value <= INT32_MAX) column.set(row, static_cast<std::int32_t>(value));
    };
    std::int64_t wave = fact(facts, "wave_front_size"), waves = fact(facts, "max_waves_per_cu"), bytes = 0;
    narrow(table.sms, fact(facts, "cu_count"));
    narrow(table.warp_size, wave);
    narrow(table.max_threads_per_block, fact(facts, "workgroup_max_size"));
    if (wave < 1024 && waves < 1024) narrow(table.max_threads_per_sm, wave * waves);
    if (std::int64_t shared = fact(facts, "lds_size_in_kb") << 10; shared > 0) {
        table.shared_bytes_per_block.set(row, shared);
        table.shared_bytes_per_sm.set(row, shared);
    }
    simdjson::dom::array banks;
    if (facts["mem_banks"].get(banks) == simdjson::SUCCESS)
        for (simdjson::dom::element bank : banks) bytes += std::min(fact(bank, "size_in_bytes"), INT64_MAX - bytes);
    if (bytes > 0) table.memory_bytes.set(row, bytes);
}

void put_shape(KernelTable& table, Row kernel, const Extent (&extents)[3]) {
    ShapeColumns columns(table);
    for (int i = 0; i < 3; ++i) {
        auto [items, threads] = extents[i];
        if (!items || !threads || *items <= 0 || *threads <= 0) continue;
        set_small(*columns.grid[i], kernel, (*items - 1) / *threads + 1);
        set_small(*columns.block[i], kernel, threads);
    }
}

std::int64_t add_profiled_kernel(Batch& batch, Row kernel, std::optional<DurNs> dur) {
    const KernelTable& of = batch.tables.kernel;
    ProfiledKernelTable& profiled = batch.tables.profiled_kernel;
    Row row = profiled.add();
    auto copy = [&](const auto& from, auto& to) {  // a column ends with the last row that has a value
        if (kernel < from.size()) set_known(to, row, from.get(kernel));
    };
    std::int64_t launch = static_cast<std::int64_t>(row) + 1;
    profiled.launch.set(row, launch);
    copy(of.process, profiled.process);
    copy(of.device, profiled.device);
    copy(of.stream, profiled.stream);
    copy(of.name, profiled.name);
    copy(of.grid_x, profiled.grid_x);
    copy(of.grid_y, profiled.grid_y);
    copy(of.grid_z, profiled.grid_z);
    copy(of.block_x, profiled.block_x);
    copy(of.block_y, profiled.block_y);
    copy(of.block_z, profiled.block_z);
    copy(of.registers, profiled.registers);
    copy(of.shared_bytes, profiled.shared_bytes);
    copy(of.correlation, profiled.correlation);
    if (dur && *dur >= 0) profiled.dur.set(row, *dur);
    profiled.kind.set(row, batch.intern("kernel"));
    profiled.tool.set(row, batch.intern("rocprofv3"));
    return launch;
}

void add_counter(Batch& batch, std::int64_t launch, StringId name, StringId unit, double value) {
    KernelCounterTable& table = batch.tables.kernel_counter;
    Row row = table.add();
    table.launch.set(row, launch);
    set_known(table.metric, row, name);
    set_known(table.unit, row, unit);
    table.value.set(row, value);
}

void write_allocations(Batch& batch, std::vector<Allocation> all) {
    constexpr std::int32_t kHostMemory = 0, kDeviceMemoryType = 1;
    std::stable_sort(all.begin(), all.end(), [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
    std::unordered_map<std::int64_t, const Allocation*> live;
    MemoryEventTable& table = batch.tables.memory_event;
    for (const Allocation& each : all) {
        const Allocation* origin = &each;
        if (each.release) {
            auto known = live.find(each.address);
            if (known == live.end()) {
                batch.lose(Loss::missing_field, "releases of memory that was allocated before the recording");
                continue;
            }
            origin = known->second;
            live.erase(known);
        } else {
            live[each.address] = &each;
        }
        Row row = table.add();
        table.time.set(row, each.time);
        set_known(table.thread, row, each.thread);
        table.device_type.set(row, origin->device ? kDeviceMemoryType : kHostMemory);
        if (origin->device) table.device.set(row, *origin->device);
        table.address.set(row, each.address);
        table.bytes.set(row, each.release ? -origin->bytes : origin->bytes);
        if (origin->device) table.category.set(row, batch.intern(kDeviceMemory));
    }
}

}  // namespace gpuprof::importers::amd
