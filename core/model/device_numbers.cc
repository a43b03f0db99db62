#include "core/model/device_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gpuprof {
namespace {

// Most reliable first: what is claimed first keeps its ordinal.
enum class Claim { by_uuid, by_use, by_description };

struct Device {
    std::size_t recording;
    std::int32_t ordinal;
    std::string uuid;
    Claim claim;
};

// The tables that refer to a device, not the one that describes it.
template <class AllTables, class Visit>
void each_device_column(AllTables& tables, Visit visit) {
    tables.each_table([&](const TableSpec&, auto& table) {
        if constexpr (requires { table.device; } && !std::is_same_v<std::remove_cvref_t<decltype(table)>, DeviceTable>)
            visit(table.device);
    });
}

std::set<std::int32_t> used_devices(const Tables& tables) {
    std::set<std::int32_t> used;
    each_device_column(tables, [&](const Column<std::int32_t>& device) {
        std::int32_t last = -1;
        for (Row row = 0; row < device.size(); ++row)
            if (device.has(row) && device[row] != last) used.insert(last = device[row]);
    });
    return used;
}

void add_devices(const Trace& trace, std::size_t recording, std::vector<Device>& devices) {
    std::set<std::int32_t> used = used_devices(trace.tables());
    const DeviceTable& described = trace.tables().device;
    for (Row row = 0; row < described.rows; ++row) {
        if (!described.device.has(row)) continue;
        std::int32_t ordinal = described.device[row];
        std::string uuid(described.uuid.has(row) ? trace.text(described.uuid[row]) : "");
        Claim claim = used.erase(ordinal) > 0 ? Claim::by_use : Claim::by_description;
        devices.push_back({recording, ordinal, uuid, uuid.empty() ? claim : Claim::by_uuid});
    }
    for (std::int32_t ordinal : used) devices.push_back({recording, ordinal, "", Claim::by_use});
}

}  // namespace

std::vector<DeviceNumbers> number_devices(const std::vector<const Trace*>& recordings,
                                          const std::vector<std::string>& scopes) {
    std::vector<Device> devices;
    for (std::size_t i = 0; i < recordings.size(); ++i) add_devices(*recordings[i], i, devices);
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.claim < b.claim; });
    std::vector<DeviceNumbers> numbers(recordings.size());
    std::map<std::string, std::int32_t> known;  // by uuid, and by ordinal in a scope
    std::set<std::int32_t> taken;
    for (const Device& device : devices) {
        std::string place = fmt::format("{}#{}", scopes[device.recording], device.ordinal);
        auto same = known.find(device.uuid.empty() ? place : device.uuid);
        std::int32_t number = device.ordinal;
        if (same != known.end()) {
            number = same->second;
        } else if (taken.contains(number)) {
            if (device.claim == Claim::by_description) continue;
            for (number = 0; taken.contains(number);) ++number;
        }
        taken.insert(number);
        known.try_emplace(place, number);
        if (!device.uuid.empty()) known.try_emplace(device.uuid, number);
        numbers[device.recording][device.ordinal] = number;
    }
    return numbers;
}

void renumber_devices(Tables& tables, const DeviceNumbers& numbers) {
    each_device_column(tables, [&](Column<std::int32_t>& device) {
        for (Row row = 0; row < device.size(); ++row)
            if (device.has(row)) device.change(row, numbers.at(device[row]));
    });
    DeviceTable& described = tables.device;
    PodVector<Row> kept;
    for (Row row = 0; row < described.rows; ++row)
        if (described.device.has(row) && numbers.contains(described.device[row])) kept.push_back(row);
    described.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    described.rows = kept.size();
    for (Row row = 0; row < described.rows; ++row) described.device.change(row, numbers.at(described.device[row]));
}

}  // namespace gpuprof
