#include "analyze/facts/steps/missing_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/text/readable.h"
#include "core/schema/losses.h"

namespace gpuprof::inline facts {
namespace {

// The first place of a loss; absent if there was none.
std::optional<std::string_view> place_of(const Trace& trace, Loss kind) {
    const LossTable& losses = trace.tables().loss;
    for (Row row = 0; row < losses.rows; ++row)
        if (trace.text(losses.kind.value_or(row, kNoString)) == spec_of(kind).name)
            return trace.text(losses.place.value_or(row, kNoString));
    return std::nullopt;
}

bool is_damaged(const Trace& trace) {
    return std::any_of(kLosses.begin(), kLosses.end(), [&](const LossSpec& spec) {
        return spec.is(loss_trait::damage) && place_of(trace, spec.kind).has_value();
    });
}

bool is_cut(const Trace& trace) {
    return place_of(trace, Loss::truncated).has_value() || place_of(trace, Loss::bad_compression).has_value();
}

bool names_driver(std::string_view message) {
    return message.find("driver") != message.npos && message.find("not supported") != message.npos;
}

std::string remedy_for(std::string_view message) {
    if (names_driver(message)) return "use a version of the recorder that supports this driver";
    if (message.find("No CUDA events") != message.npos)
        return "check that the program uses the GPU, and that the process that does is traced";
    return "let no other profiler use CUPTI, check that profiling is permitted (gpu-profile doctor), and use a version "
           "of "
           "the recorder that supports the driver";
}

// Where calls were recorded and their work was not, and the recorder gave no reason.
std::string remedy_without_message(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    for (Row row = 0; row < calls.rows; ++row)
        if (trace.text(calls.api.value_or(row, kNoString)) == "xpu")
            return "use versions of the recorder and of the GPU's driver that record the kernels of this GPU";
    return remedy_for("");
}

}  // namespace

std::string why_no_device_work(const Trace& trace) {
    bool host_work = trace.op().rows + trace.api_call().rows > 0;
    if (is_cut(trace))
        return "the file is cut, and the part that was read contains no GPU work; copy the file again, or record again";
    if (is_damaged(trace))
        return "part of the file could not be read, and the rest contains no GPU work; copy the file again, or record "
               "with GPU activities enabled";
    if (auto said = place_of(trace, Loss::untraced_gpu))
        return fmt::format("GPU tracing was on but recorded no GPU work: the recorder reported '{}'; {}", *said,
                           remedy_for(*said));
    if (host_work && place_of(trace, Loss::killed_process))
        return fmt::format("the recorder was ended before it wrote any GPU work; {}",
                           spec_of(Loss::killed_process).remedy);
    const Completeness& complete = trace.completeness();
    if (complete.without_work() == 0)
        return host_work ? "the trace contains host work but no GPU work; record with GPU activities enabled"
                         : "the trace contains no GPU work";
    std::string calls = readable_count(static_cast<std::int64_t>(complete.without_work()));
    if (auto refused = place_of(trace, Loss::recorder_refused))
        return fmt::format("the device work of {} submitting calls was not recorded: {}; see gpu-profile doctor", calls,
                           *refused);
    // A recorder traces calls and device work with one setting, so that setting was on.
    return fmt::format(
        "the calls that submit work were recorded ({}), but none of their device work: GPU tracing failed; {}", calls,
        remedy_without_message(trace));
}

std::string how_to_record_all(const Trace& trace) {
    if (is_cut(trace)) return "the file is cut: copy it again, or record again";
    if (auto said = place_of(trace, Loss::recorder_warning); said && names_driver(*said))
        return fmt::format("the recorder reported '{}': {}", *said, remedy_for(*said));
    std::uint64_t launches = trace.completeness()[Submission::kernel].without_work;
    if (launches > 0 && trace.kernel().rows == 0)
        return fmt::format("none of the kernels that {} launches submitted was recorded: {}",
                           readable_count(static_cast<std::int64_t>(launches)), remedy_without_message(trace));
    return "record a shorter part or use larger buffers, and do not kill the program";
}

}  // namespace gpuprof::facts
