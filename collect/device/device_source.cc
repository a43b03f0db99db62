#include "collect/device/device_source.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "core/base/text/close_match.h"

namespace gpuprof::inline device {

void SourceRequest::see_visible_devices() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    visible_set = visible != nullptr;
    visible_devices = visible_set ? visible : "";
}

Status check_backend(const std::string& backend) {
    constexpr std::string_view kReplay = "replay:";
    for (const char* known : {"auto", "nvml", "smi", "none"})
        if (backend == known) return {};
    if (backend.size() > kReplay.size() && backend.starts_with(kReplay)) {
        SourceRequest request;
        request.backend = backend;
        Result<std::unique_ptr<DeviceSource>> series = open_replay(request);
        return series.ok() ? Status() : Status(series.error());
    }
    return unknown_choice("backend", backend, {"auto", "nvml", "smi", "none", "replay:FILE"});
}

Result<std::unique_ptr<DeviceSource>> open_source(const SourceRequest& request) {
    if (request.backend == "nvml") return open_nvml(request);
    if (request.backend == "smi") return open_smi(request);
    if (request.backend.rfind("replay:", 0) == 0) return open_replay(request);
    if (Status known = check_backend(request.backend); !known) return known.error();
    Result<std::unique_ptr<DeviceSource>> nvml = open_nvml(request);
    if (nvml.ok() || nvml.error().code == ExitCode::usage) return nvml;
    Result<std::unique_ptr<DeviceSource>> smi = open_smi(request);
    if (smi.ok() || smi.error().code == ExitCode::usage) return smi;
    return Error{ExitCode::empty,
                 fmt::format("no GPU can be sampled: {}; {}", smi.error().message, nvml.error().message)};
}

}  // namespace gpuprof::device
