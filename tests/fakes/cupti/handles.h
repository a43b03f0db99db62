// Handles of streams and events that the fake program passes to functions: made of CUPTI's ids in the script, so that
// cuptiGetStreamIdEx can turn them back. A script holds the ids of a call in its records CUDA_EVENT and SYNCHRONIZATION.
#pragma once

#include <cstdint>

#include "tests/fakes/cupti/cupti_script.h"

namespace fake_cupti {

constexpr std::uint32_t kDefaultStream = 7;  // the id that CUPTI gives to the stream 0

// False: no stream has this handle.
bool stream_of_handle(std::uint64_t handle, std::uint32_t& id);

// The arguments of a call about streams or events: all are pointers, in the order of the function. Otherwise nulls.
struct Arguments {
    // `turn` tells apart the events of several plays of one script.
    Arguments(const Script& script, const ScriptRecord& call, std::uint32_t turn);
    std::uint64_t words[4] = {};
};

// A launch of a kernel, as the driver's function gets it: the beginning of cuLaunchKernel_params of generated_cuda_meta.h.
// cuLaunchKernelEx gets a pointer to a CUlaunchConfig instead.
struct LaunchArguments {
    struct {
        void* function = nullptr;
        std::uint32_t grid[3]{}, block[3]{}, dynamic_shared_bytes = 0;
        void* stream = nullptr;
    } plain;
    struct {
        std::uint32_t grid[3]{}, block[3]{}, dynamic_shared_bytes = 0;
        void* stream = nullptr;
        const void* attributes = nullptr;
        std::uint32_t attribute_count = 0;
    } config;
    const void* extended[2]{};
    const char* symbol = nullptr;

    // Of the kernel with this correlation id in the script; no symbol if there is none.
    LaunchArguments(const Script& script, std::uint32_t correlation);
    // For the driver's function of this name; null: it launches no kernel.
    const void* for_function(const char* name);
};

// The function of the driver that a runtime function about streams or events calls; 0: none that is known.
std::uint32_t driver_function(std::uint32_t runtime_cbid);

}  // namespace fake_cupti
