// Handles of streams and events that the fake program passes to functions: made of CUPTI's ids in the script, so that
// cuptiGetStreamIdEx can turn them back. A script holds the ids of a call in its records CUDA_EVENT and SYNCHRONIZATION.
#pragma once

#include <cstdint>

#include "tests/fakes/cupti/script.h"

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

// The function of the driver that a runtime function about streams or events calls; 0: none that is known.
std::uint32_t driver_function(std::uint32_t runtime_cbid);

}  // namespace fake_cupti
