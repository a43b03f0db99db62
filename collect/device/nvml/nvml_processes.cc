// Buffers, layouts and process ids.
#include "collect/device/nvml/nvml_processes.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/files/names_in.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline device::nvml {

namespace {

constexpr unsigned char kPattern = 0xA5;
constexpr std::size_t kMaxEntryBytes = 32;
constexpr unsigned kMaxPid = 1u << 22;  // PID_MAX_LIMIT of Linux

// Bytes per entry: `declared`, or the next longer layout if more was written.
std::size_t entry_bytes_of(const std::vector<unsigned char>& buffer, std::size_t count, std::size_t declared) {
    std::size_t end = std::min(buffer.size(), count * kMaxEntryBytes);
    while (end > 0 && buffer[end - 1] == kPattern) --end;
    for (std::size_t bytes : {sizeof(ProcessV1), sizeof(Process), kMaxEntryBytes})
        if (bytes >= declared && end <= count * bytes) return bytes;
    return kMaxEntryBytes;
}

// All layouts begin with the process id and the memory.
ProcessV1 entry_at(const std::vector<unsigned char>& buffer, std::size_t offset) {
    ProcessV1 entry;
    std::memcpy(&entry, buffer.data() + offset, sizeof entry);
    return entry;
}

bool possible_pid(unsigned pid) { return pid > 0 && pid <= kMaxPid; }

}  // namespace

template <class Listing>
Return Processes::list(const Listing& function, std::size_t entry_bytes, Device device, std::optional<double> total_mb,
                       Uses& to) {
    std::size_t room = std::max<std::size_t>(buffer_.size() / kMaxEntryBytes, 32);
    for (int attempt = 0; attempt < 3; ++attempt) {
        buffer_.assign(room * kMaxEntryBytes, kPattern);
        auto count = static_cast<unsigned>(room);
        Return code = function(device, &count, buffer_.data());
        if (code == kInsufficientSize) {  // processes may start during the call
            room = std::min<std::size_t>(std::size_t{count} * 2 + 8, 1 << 16);
            continue;
        }
        if (code != kSuccess) return code;
        if (count > room) return kUnknown;
        std::size_t bytes = entry_bytes_of(buffer_, count, entry_bytes);
        for (std::size_t i = 0; i < count; ++i) {
            ProcessV1 entry = entry_at(buffer_, i * bytes);
            if (!possible_pid(entry.pid)) continue;
            Use& use = to[entry.pid];
            double used_mb = static_cast<double>(entry.used_gpu_memory) / kMib;
            if (entry.used_gpu_memory != kNotAvailable && (!total_mb || used_mb <= *total_mb))
                use.mem_used_mb = used_mb;
        }
        return kSuccess;
    }
    return kInsufficientSize;
}

Return Processes::list_compute(const Api& api, Device device, std::optional<double> total_mb, Uses& to) {
    Return code = list(api.nvmlDeviceGetComputeRunningProcesses_v3, sizeof(Process), device, total_mb, to);
    if (code == kFunctionNotFound)
        code = list(api.nvmlDeviceGetComputeRunningProcesses_v2, sizeof(Process), device, total_mb, to);
    if (code == kFunctionNotFound)
        code = list(api.nvmlDeviceGetComputeRunningProcesses, sizeof(ProcessV1), device, total_mb, to);
    return code;
}

Return Processes::list_graphics(const Api& api, Device device, std::optional<double> total_mb, Uses& to) {
    Return code = list(api.nvmlDeviceGetGraphicsRunningProcesses_v3, sizeof(Process), device, total_mb, to);
    if (code == kFunctionNotFound)
        code = list(api.nvmlDeviceGetGraphicsRunningProcesses_v2, sizeof(Process), device, total_mb, to);
    if (code == kFunctionNotFound)
        code = list(api.nvmlDeviceGetGraphicsRunningProcesses, sizeof(ProcessV1), device, total_mb, to);
    return code;
}

// The driver keeps several seconds of samples; those since the last turn are averaged per process.
Return Processes::utilization(const Api& api, Device device, TimeNs time, Uses& to) {
    constexpr unsigned kInitialCapacity = 128;
    if (samples_.empty()) samples_.resize(kInitialCapacity);
    if (since_us_ == 0) since_us_ = static_cast<unsigned long long>(time / 1000) - 1'000'000;
    auto count = static_cast<unsigned>(samples_.size());
    Return code = api.nvmlDeviceGetProcessUtilization(device, samples_.data(), &count, since_us_);
    if (code == kInsufficientSize) {
        samples_.resize(std::clamp<std::size_t>(count, kInitialCapacity, 1 << 16) * 2);
        count = static_cast<unsigned>(samples_.size());
        code = api.nvmlDeviceGetProcessUtilization(device, samples_.data(), &count, since_us_);
    }
    if (code == kNotFound) return kSuccess;  // no process ran
    if (code != kSuccess) return code;
    std::map<unsigned, std::pair<double, int>> sums;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, samples_.size()); ++i) {
        const ProcessUtilization& sample = samples_[i];
        if (!possible_pid(sample.pid) || sample.sm_util > 100) continue;
        since_us_ = std::max(since_us_, sample.time_stamp);
        sums[sample.pid].first += sample.sm_util;
        ++sums[sample.pid].second;
    }
    for (const auto& [pid, sum] : sums) to[pid].util_gpu = sum.first / sum.second;
    return kSuccess;
}

Return Processes::read(const Api& api, Device device, std::optional<double> total_mb, TimeNs time, std::int32_t number,
                       std::vector<ProcessReading>& to) {
    Uses uses;
    Return codes[] = {list_compute(api, device, total_mb, uses), list_graphics(api, device, total_mb, uses),
                      utilization(api, device, time, uses)};
    for (const auto& [pid, use] : uses) to.push_back({time, number, local(pid), use.mem_used_mb, use.util_gpu, pid});
    bool worked = std::find(std::begin(codes), std::end(codes), kSuccess) != std::end(codes);
    return worked ? kSuccess : codes[0];
}

// Searching all of /proc takes milliseconds, so each id is looked up once.
std::int64_t Processes::local(unsigned pid) {
    constexpr std::size_t kMaxRemembered = 4096;
    if (local_.size() > kMaxRemembered) local_.clear();
    auto [place, is_new] = local_.try_emplace(pid, 0);
    if (is_new) place->second = local_pid(pid, "/proc");
    return place->second;
}

std::int64_t local_pid(std::int64_t pid, const std::string& proc_root) {
    std::error_code error;
    std::filesystem::path root(proc_root);
    if (std::filesystem::exists(root / std::to_string(pid), error)) return pid;
    std::int64_t found = 0;
    int matches = 0;
    for (const std::string& name : names_in(proc_root)) {
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        std::ifstream status(root / name / "status");
        for (std::string line; std::getline(status, line);) {
            if (!line.starts_with("NSpid:")) continue;
            std::istringstream ids(line.substr(6));
            for (std::int64_t id = 0; ids >> id;)
                if (id == pid) {
                    ++matches;
                    found = std::stoll(name);
                }
            break;
        }
    }
    return matches == 1 ? found : pid;
}

}  // namespace gpuprof::device::nvml
