#include "core/model/build/device_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/model/processes.h"

namespace gpuprof::inline model {
namespace {

// Calls visit(table) for the tables whose rows are work on a device.
template <class Visit>
void each_work(const Tables& tables, Visit visit) {
    visit(tables.kernel), visit(tables.memcpy), visit(tables.memset);
}

// A process that worked on devices, and on which.
struct Worker {
    std::string_view key, host;
    std::optional<std::int64_t> pid, rank, world_size;
    bool host_and_pid = false;
    std::set<std::int32_t> ordinals;
};

std::vector<Worker> workers_of(const Trace& trace) {
    std::map<StringId, std::set<std::int32_t>> ordinals;
    each_work(trace.tables(), [&](const auto& table) {
        std::pair last{kNoString, -1};
        for (Row row = 0; row < table.rows; ++row) {
            if (!table.process.has(row) || !table.device.has(row)) continue;
            std::pair next{table.process[row], table.device[row]};
            if (next != last) ordinals[next.first].insert(next.second);
            last = next;
        }
    });
    const ProcessTable& process = trace.tables().process;
    std::vector<Worker> workers;
    for (Row row = 0; row < process.rows; ++row) {
        auto found = ordinals.find(process.key[row]);
        if (found == ordinals.end()) continue;
        workers.push_back({trace.text(process.key[row]), process.host.has(row) ? trace.text(process.host[row]) : "",
                           process.pid.get(row), process.rank.get(row), process.world_size.get(row),
                           is_host_and_pid(process, trace.strings(), row), found->second});
    }
    return workers;
}

bool differ(std::string_view a, std::string_view b) { return !a.empty() && !b.empty() && a != b; }
template <class T>
bool differ(const std::optional<T>& a, const std::optional<T>& b) {
    return a && b && *a != *b;
}

bool overlap(const Trace& a, const Trace& b) {
    return a.full_window().start >= kTimeOfDay && b.full_window().start >= kTimeOfDay &&
           a.full_window().start < b.full_window().end && b.full_window().start < a.full_window().end;
}

// What names a GPU for good: devices that share one of these are one GPU.
std::vector<std::string> names_of_gpu(const NamedRecording& recording, const std::vector<Worker>& workers,
                                      const RecordedDevice& device) {
    std::vector<std::string> names;
    auto add = [&](std::string_view kind, std::string_view who) {
        names.push_back(fmt::format("{} {}#{}", kind, who, device.ordinal));
    };
    if (!device.uuid.empty()) names.push_back(fmt::format("uuid {}", device.uuid));
    for (const Worker& worker : workers) {
        if (!worker.ordinals.contains(device.ordinal)) continue;
        if (worker.host_and_pid) add("process", worker.key);
        if (worker.host_and_pid && !worker.rank) add("host", worker.host);
        if (!worker.pid) continue;
        if (worker.rank && worker.world_size)
            add("rank", fmt::format("{} of {}, pid {}", *worker.rank, *worker.world_size, *worker.pid));
        std::string base(recording.name.substr(recording.name.rfind('/') + 1));
        std::size_t pid = base.find(fmt::format("_{}.", *worker.pid));
        if (pid != std::string::npos && pid > 0 && base.find(".pt.trace.json") != std::string::npos)
            add("file", base.substr(0, base.find('.', pid)));
    }
    return names;
}

class Gpus {
public:
    Gpus(const std::vector<NamedRecording>& recordings, const std::vector<RecordedDevice>& devices)
        : recordings_(recordings), devices_(devices), gpu_(devices.size()) {
        for (std::uint32_t i = 0; i < devices.size(); ++i) gpu_[i] = i;
        for (const NamedRecording& recording : recordings) workers_.push_back(workers_of(*recording.trace));
    }
    void join_by_name() {
        std::map<std::string, std::uint32_t> first;
        for (std::uint32_t i = 0; i < devices_.size(); ++i)
            for (const std::string& name :
                 names_of_gpu(recordings_[devices_[i].recording], workers_[devices_[i].recording], devices_[i])) {
                auto [known, added] = first.try_emplace(name, i);
                if (!added) join(known->second, i);
            }
    }
    void join_tools() {
        std::vector<std::size_t> partner;
        for (std::size_t i = 0; i < recordings_.size(); ++i) partner.push_back(only_one_of_same_pid(i));
        for (std::size_t i = 0; i < recordings_.size(); ++i) {
            if (partner[i] <= i || partner[i] == kNone || partner[partner[i]] != i) continue;
            for (std::uint32_t a = first_of(i); a < first_of(i + 1); ++a)
                for (std::uint32_t b = first_of(partner[i]); b < first_of(partner[i] + 1); ++b)
                    if (devices_[a].ordinal == devices_[b].ordinal && !differ(devices_[a].name, devices_[b].name))
                        join(a, b);
        }
    }
    void join_observed() {
        std::map<std::uint32_t, DeviceUse> use;
        for (std::uint32_t i = 0; i < devices_.size(); ++i) {
            auto [known, added] = use.try_emplace(gpu_[i], devices_[i].use);
            known->second = std::min(known->second, devices_[i].use);
        }
        auto only = [&](DeviceUse wanted) -> std::optional<std::uint32_t> {
            auto has = [&](const auto& each) { return each.second == wanted; };
            auto first = std::find_if(use.begin(), use.end(), has);
            if (first == use.end() || std::any_of(std::next(first), use.end(), has)) return {};
            return first->first;
        };
        auto worked = only(DeviceUse::worked), observed = only(DeviceUse::observed);
        if (!worked || !observed) return;
        for (std::uint32_t a = 0; a < devices_.size(); ++a)
            for (std::uint32_t b = 0; b < devices_.size(); ++b)
                if (gpu_[a] == *worked && gpu_[b] == *observed && !differ(devices_[a].name, devices_[b].name) &&
                    overlap(*recordings_[devices_[a].recording].trace, *recordings_[devices_[b].recording].trace))
                    return join(a, b);
    }
    // By device, dense.
    std::vector<std::uint32_t> numbers() const {
        std::map<std::uint32_t, std::uint32_t> dense;
        std::vector<std::uint32_t> result;
        for (std::uint32_t gpu : gpu_)
            result.push_back(dense.try_emplace(gpu, static_cast<std::uint32_t>(dense.size())).first->second);
        return result;
    }

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Devices stand by recording.
    std::uint32_t first_of(std::size_t recording) const {
        auto before = [](const RecordedDevice& device, std::size_t at) { return device.recording < at; };
        return static_cast<std::uint32_t>(std::lower_bound(devices_.begin(), devices_.end(), recording, before) -
                                          devices_.begin());
    }
    std::string_view uuid_of(std::uint32_t gpu) const {
        for (std::size_t i = 0; i < devices_.size(); ++i)
            if (gpu_[i] == gpu && !devices_[i].uuid.empty()) return devices_[i].uuid;
        return {};
    }
    // Devices of one recording have different ordinals, so they are different GPUs.
    bool meet_in_a_recording(std::uint32_t a, std::uint32_t b) const {
        std::set<std::size_t> of_a;
        for (std::size_t i = 0; i < devices_.size(); ++i)
            if (gpu_[i] == a) of_a.insert(devices_[i].recording);
        for (std::size_t i = 0; i < devices_.size(); ++i)
            if (gpu_[i] == b && of_a.contains(devices_[i].recording)) return true;
        return false;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        std::uint32_t kept = std::min(gpu_[a], gpu_[b]), gone = std::max(gpu_[a], gpu_[b]);
        if (kept == gone || differ(uuid_of(kept), uuid_of(gone))) return;
        bool by_uuid = !uuid_of(kept).empty() && uuid_of(kept) == uuid_of(gone);
        if (!by_uuid && meet_in_a_recording(kept, gone)) return;
        std::replace(gpu_.begin(), gpu_.end(), gone, kept);
    }

    // The only other recording with work by a process of the same pid; kNone if there are several, or if something
    // shows that it is a different process.
    std::size_t only_one_of_same_pid(std::size_t i) const {
        std::size_t found = kNone;
        if (workers_[i].size() != 1 || !workers_[i][0].pid) return kNone;
        const Worker& own = workers_[i][0];
        for (std::size_t j = 0; j < recordings_.size(); ++j) {
            auto same = [&](const Worker& worker) { return worker.pid == own.pid; };
            if (j == i || std::none_of(workers_[j].begin(), workers_[j].end(), same)) continue;
            if (found != kNone || workers_[j].size() != 1) return kNone;
            found = j;
        }
        if (found == kNone) return kNone;
        const Trace &a = *recordings_[i].trace, &b = *recordings_[found].trace;
        const Worker& other = workers_[found][0];
        bool two_tools = differ(a.origin().tool, b.origin().tool);
        bool apart = differ(own.host, other.host) || differ(own.rank, other.rank);
        return two_tools && !apart && overlap(a, b) ? found : kNone;
    }

    const std::vector<NamedRecording>& recordings_;
    const std::vector<RecordedDevice>& devices_;
    std::vector<std::vector<Worker>> workers_;  // by recording
    std::vector<std::uint32_t> gpu_;            // by device: the first device that is the same GPU
};

std::set<std::int32_t> values_of(const Column<std::int32_t>& device) {
    std::set<std::int32_t> values;
    std::optional<std::int32_t> last;
    for (Row row = 0; row < device.size(); ++row)
        if (device.has(row) && device[row] != last) values.insert(*(last = device[row]));
    return values;
}

void add_devices(const Trace& trace, std::size_t recording, std::vector<RecordedDevice>& devices) {
    std::map<std::int32_t, RecordedDevice> known;
    auto add = [&](std::int32_t ordinal, DeviceUse use) {
        RecordedDevice& device =
            known.try_emplace(ordinal, RecordedDevice{recording, ordinal, use, {}, {}}).first->second;
        device.use = std::min(device.use, use);
        return &device;
    };
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        if constexpr (requires { table.device; } && !std::is_same_v<Table, DeviceTable>)
            for (std::int32_t ordinal : values_of(table.device)) add(ordinal, DeviceUse::observed);
    });
    each_work(trace.tables(), [&](const auto& table) {
        for (std::int32_t ordinal : values_of(table.device)) add(ordinal, DeviceUse::worked);
    });
    const DeviceTable& described = trace.tables().device;
    for (Row row = 0; row < described.rows; ++row) {
        if (!described.device.has(row)) continue;
        RecordedDevice* device = add(described.device[row], DeviceUse::described);
        if (described.uuid.has(row)) device->uuid = trace.text(described.uuid[row]);
        if (described.name.has(row)) device->name = trace.text(described.name[row]);
    }
    for (const auto& [ordinal, device] : known) devices.push_back(device);
}

}  // namespace

std::vector<RecordedDevice> recorded_devices(const std::vector<NamedRecording>& recordings) {
    std::vector<RecordedDevice> devices;
    for (std::size_t i = 0; i < recordings.size(); ++i) add_devices(*recordings[i].trace, i, devices);
    return devices;
}

std::vector<std::uint32_t> same_gpus(const std::vector<NamedRecording>& recordings,
                                     const std::vector<RecordedDevice>& devices) {
    Gpus gpus(recordings, devices);
    gpus.join_by_name();
    gpus.join_tools();
    gpus.join_observed();
    return gpus.numbers();
}

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
