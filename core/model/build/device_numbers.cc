#include "core/model/build/device_numbers.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace gpuprof::inline model {
namespace {

constexpr std::int32_t kNoNumber = std::numeric_limits<std::int32_t>::min();

struct Gpu {
    std::uint32_t gpu = 0;
    DeviceUse use = DeviceUse::described;
    bool uuid = false;
    std::int32_t ordinal = 0;  // of the recording with the most of it
    std::int32_t number = kNoNumber;
};

// Those first that keep their ordinal before others.
std::vector<Gpu> in_order(const std::vector<RecordedDevice>& devices, const std::vector<std::uint32_t>& gpu_of) {
    std::vector<Gpu> gpus;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        bool added = gpu_of[i] == gpus.size();  // numbers of GPUs are dense
        if (added) gpus.push_back({gpu_of[i]});
        Gpu& gpu = gpus[gpu_of[i]];
        if (added || devices[i].use < gpu.use) gpu.ordinal = devices[i].ordinal;
        gpu.use = std::min(gpu.use, devices[i].use);
        gpu.uuid |= !devices[i].uuid.empty();
    }
    std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
        return std::tuple(a.use, !a.uuid) < std::tuple(b.use, !b.uuid);
    });
    return gpus;
}

void number(std::vector<Gpu>& gpus) {
    std::set<std::int32_t> taken;
    for (Gpu& gpu : gpus)
        if (taken.insert(gpu.ordinal).second) gpu.number = gpu.ordinal;
    std::int32_t free = 0;
    for (Gpu& gpu : gpus) {
        if (gpu.number != kNoNumber || gpu.use == DeviceUse::described) continue;
        while (taken.contains(free)) ++free;
        taken.insert(gpu.number = free);
    }
}

}  // namespace

std::vector<DeviceNumbers> number_devices(const std::vector<NamedRecording>& recordings) {
    std::vector<RecordedDevice> devices = recorded_devices(recordings);
    std::vector<std::uint32_t> gpu_of = same_gpus(recordings, devices);
    std::vector<Gpu> gpus = in_order(devices, gpu_of);
    number(gpus);
    std::vector<std::int32_t> number_of(gpus.size());
    for (const Gpu& gpu : gpus) number_of[gpu.gpu] = gpu.number;
    std::vector<DeviceNumbers> numbers(recordings.size());
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (std::int32_t number = number_of[gpu_of[i]]; number != kNoNumber)
            numbers[devices[i].recording][devices[i].ordinal] = number;
    return numbers;
}

void renumber_devices(Tables& tables, const DeviceNumbers& numbers) {
    tables.each_table([&](const TableSpec&, auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        if constexpr (requires { table.device; } && !std::is_same_v<Table, DeviceTable>)
            for (Row row = 0; row < table.device.size(); ++row)
                if (table.device.has(row)) table.device.change(row, numbers.at(table.device[row]));
    });
    DeviceTable& described = tables.device;
    PodVector<Row> kept;
    for (Row row = 0; row < described.rows; ++row)
        if (described.device.has(row) && numbers.contains(described.device[row])) kept.push_back(row);
    described.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    described.rows = kept.size();
    for (Row row = 0; row < described.rows; ++row) described.device.change(row, numbers.at(described.device[row]));
}

}  // namespace gpuprof::model
