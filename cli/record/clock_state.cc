#include "cli/record/clock_state.h"

#include <fmt/format.h>
#include <sys/timex.h>

#include <cerrno>
#include <cstring>

namespace gpuprof::inline cli {

ClockState read_clock_state() {
    ClockState state;
    timex clock{};
    int status = adjtimex(&clock);
    if (status < 0) {
        state.unknown = std::strerror(errno);
        return state;
    }
    constexpr double kScale = 65536;  // of the frequency: 2^16 parts per million
    constexpr std::int64_t kNsPerUs = 1000;
    state.synchronised = status != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
    state.offset_ns = std::int64_t{clock.offset} * ((clock.status & STA_NANO) != 0 ? 1 : kNsPerUs);
    state.max_error_ns = std::int64_t{clock.maxerror} * kNsPerUs;
    state.estimated_error_ns = std::int64_t{clock.esterror} * kNsPerUs;
    state.frequency_ppm = static_cast<double>(clock.freq) / kScale;
    return state;
}

void add_clock_facts(Batch& facts, const char* when, const ClockState& state) {
    auto add = [&](const char* what, const std::string& value) {
        MetaTable& meta = facts.tables.meta;
        Row row = meta.add();
        meta.key.set(row, facts.intern(fmt::format("clock.{}.{}", when, what)));
        meta.value.set(row, facts.intern(value));
    };
    if (!state.unknown.empty()) return add("unknown", state.unknown);
    add("synchronised", state.synchronised ? "1" : "0");
    add("offset_ns", std::to_string(state.offset_ns));
    add("max_error_ns", std::to_string(state.max_error_ns));
    add("estimated_error_ns", std::to_string(state.estimated_error_ns));
    add("frequency_ppm", fmt::format("{:.3f}", state.frequency_ppm));
}

}  // namespace gpuprof::cli
