#include "tests/fakes/cupti/handles.h"

#include <cstring>
#include <string>

#include "tests/fakes/cupti/client.h"

namespace fake_cupti {
namespace {

constexpr std::uint64_t kStreams = 0x7500'0000'0000, kEvents = 0x7e00'0000'0000, kBytes = 64;

std::uint64_t handle_of_stream(std::uint32_t id) { return id == kDefaultStream ? 0 : kStreams + id * kBytes; }

}  // namespace

bool stream_of_handle(std::uint64_t handle, std::uint32_t& id) {
    if (handle != 0 && (handle < kStreams || handle >= kEvents || handle % kBytes != 0)) return false;
    id = handle == 0 ? kDefaultStream : static_cast<std::uint32_t>((handle - kStreams) / kBytes);
    return true;
}

Arguments::Arguments(const Script& script, const ScriptRecord& call, std::uint32_t turn) {
    if (call.kind != kDriver && call.kind != kRuntime) return;
    auto found = script.subjects.find(read<std::uint32_t>(call.at, fields_of(call.kind).correlation));
    if (found == script.subjects.end()) return;
    const char* name =
        function_name(call.kind == kDriver ? kDriverDomain : kRuntimeDomain, read<std::uint32_t>(call.at, 4));
    if (name == nullptr) return;
    std::uint64_t stream = handle_of_stream(found->second.stream),
                  event = kEvents + (std::uint64_t{turn} << 20) + found->second.event * kBytes;
    bool event_first = std::strstr(name, "EventRecord") != nullptr || std::strstr(name, "EventSynchronize") != nullptr;
    words[0] = event_first ? event : stream;
    words[1] = event_first ? stream : event;
}

LaunchArguments::LaunchArguments(const Script& script, std::uint32_t correlation) {
    extended[0] = &config;
    auto found = script.kernels.find(correlation);
    if (found == script.kernels.end()) return;
    const unsigned char* kernel = found->second;
    constexpr std::uint32_t kStream = 48, kGrid = 52, kBlock = 64, kDynamicShared = 80, kName = 104;
    for (std::uint32_t i = 0; i < 3; ++i) {
        plain.grid[i] = config.grid[i] = read<std::uint32_t>(kernel, kGrid + 4 * i);
        plain.block[i] = config.block[i] = read<std::uint32_t>(kernel, kBlock + 4 * i);
    }
    plain.dynamic_shared_bytes = config.dynamic_shared_bytes = read<std::uint32_t>(kernel, kDynamicShared);
    plain.stream = config.stream = reinterpret_cast<void*>(handle_of_stream(read<std::uint32_t>(kernel, kStream)));
    symbol = reinterpret_cast<const char*>(read<std::uint64_t>(kernel, kName));
}

const void* LaunchArguments::for_function(const char* name) {
    if (name == nullptr) return nullptr;
    if (std::strncmp(name, "cuLaunchKernelEx", 16) == 0) return extended;
    return std::strncmp(name, "cuLaunchKernel", 14) == 0 ? &plain : nullptr;
}

std::uint32_t driver_function(std::uint32_t runtime_cbid) {
    const char* name = function_name(kRuntimeDomain, runtime_cbid);
    if (name == nullptr || std::strncmp(name, "cuda", 4) != 0) return 0;
    std::string driver = "cu" + std::string(name + 4);
    driver.resize(driver.rfind("_v") < driver.size() ? driver.rfind("_v") : driver.size());
    return function_id(kDriverDomain, driver.c_str());
}

}  // namespace fake_cupti
