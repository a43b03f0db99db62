// Opens the NVML source on the fake library with a script, for tests: each script is a file of its own, so that the fake
// begins anew.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "collect/device/nvml/nvml_source.h"

namespace gpuprof {

inline MetricSet every_metric() { return MetricSet::all(); }

inline SourceRequest all_devices() {
    SourceRequest request;
    request.devices = "all";
    return request;
}

class NvmlStage {
public:
    explicit NvmlStage(const std::string& script, const SourceRequest& request = all_devices(),
                       const std::string& library = GPUPROF_FAKES_DIR "/libnvidia-ml.so.1")
        : opened(open(script, request, library)) {}
    ~NvmlStage() {
        unsetenv("GPUPROF_NVML");  // another test's GPU is not this one
        unlink(script_path.c_str());
    }

    DeviceSource& source() { return **opened; }
    // One turn of everything.
    PollResult collect(MetricSet due = every_metric()) {
        PollResult polled;
        source().collect(due, polled);
        return polled;
    }
    std::string error() const { return opened ? "" : opened.error().message; }

    std::string script_path;
    Result<std::unique_ptr<DeviceSource>> opened;

private:
    Result<std::unique_ptr<DeviceSource>> open(const std::string& script, const SourceRequest& request,
                                               const std::string& library) {
        static std::atomic<int> number = 0;
        script_path =
            ::testing::TempDir() + "gpuprof_nvml_" + std::to_string(getpid()) + "_" + std::to_string(number++);
        std::ofstream(script_path) << script;
        setenv("GPUPROF_FAKE_NVML", script_path.c_str(), 1);
        setenv("GPUPROF_NVML", library.c_str(), 1);
        // No waiting, so that a test sees each second try in the next turn.
        return nvml::open(request, nvml::RetryDelays{0, 0, 0, 0, 0, 0});
    }
};

// All sentences of a polled, a line each.
inline std::string sentences(const PollResult& polled) {
    std::string text;
    for (const Fault& fault : polled.faults) text += fault.sentence + "\n";
    return text;
}

}  // namespace gpuprof
