#include "core/model/from_zero.h"

namespace gpuprof {

Trace from_zero(Trace given, Interval window) {
    Trace trace = std::move(given);
    trace.window_ = trace.whole_ = window;
    return from_zero(std::move(trace));
}

Trace from_zero(Trace given) {
    Trace trace = std::move(given);
    TimeNs zero = trace.zero();
    if (zero == 0) return trace;
    shift_times(trace.tables_, -zero);
    trace.window_ = {trace.window_.start - zero, trace.window_.end - zero};
    trace.whole_ = {0, trace.whole_.end - zero};
    return trace;
}

}  // namespace gpuprof
