// Stacks of launches (HostEventOp::launch_stack of core/format/spool.h) as texts: Python's frames, and below them the native
// ones between Python and the launch. Frames of the recorder, of CUPTI, of the driver and the runtime, of the interpreter,
// and of the C library's start of a thread are omitted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/format/spool.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/spool/native_names.h"

namespace gpuprof::inline importers {

class SpoolLaunchStacks {
public:
    void add_stack(const spool::HostEvent& event, std::string_view text);
    void add_launch(const spool::HostEvent& event);
    // Of the calls in the rows from `first`.
    void finish(Batch& batch, Row first, NativeNames names) const;

private:
    std::unordered_map<std::uint64_t, std::string> stacks_;     // by id
    std::unordered_map<std::int64_t, std::uint64_t> launches_;  // ids by correlation id
};

// The text of one stack, for stack_sample and api_call. `stack` as in HostEventOp::stack_name.
std::string launch_stack_text(std::string_view stack, NativeNames& names);

}  // namespace gpuprof::importers
