#include "collect/cpu/switch_slices.h"

#include <optional>

namespace gpuprof::inline cpu {
namespace {

// Absent if the clock was set back in between, or a time is damaged.
std::optional<DurNs> time_between(TimeNs start, TimeNs end) {
    DurNs dur = 0;
    return __builtin_sub_overflow(end, start, &dur) || dur < 0 ? std::nullopt : std::optional(dur);
}

}  // namespace

void SwitchSlices::close(TimeNs time, CpuStretch::End end, std::vector<CpuStretch>& into) {
    if (std::optional<DurNs> dur = time_between(running_.since, time))
        into.push_back({running_.since, *dur, running_.process, running_.thread, end});
    else
        ++dropped_;
    running_ = {};
}

void SwitchSlices::damaged() {
    ++lost_;
    running_ = {};
    blind_ = true;
}

void SwitchSlices::take(const SwitchRecord& record, std::vector<CpuStretch>& into) {
    using Kind = SwitchRecord::Kind;
    if (record.kind == Kind::lost) {
        lost_ += record.lost;
        running_ = {};
        blind_ = true;
    }
    bool unknown = blind_;
    if (blind_) {
        std::optional<DurNs> dur = any_ ? time_between(last_, record.time) : std::nullopt;
        if (dur && *dur > 0) into.push_back({last_, *dur, 0, 0, CpuStretch::End::lost});
        blind_ = record.kind == Kind::lost;
    }
    any_ = true;
    last_ = record.time;
    bool same = running_.thread != 0 && running_.thread == record.thread;
    switch (record.kind) {
        case Kind::in:
            if (running_.thread != 0) ++dropped_;
            running_ = {record.process, record.thread, record.time};
            break;
        case Kind::out:
            if (same) {
                close(record.time, record.preempted ? CpuStretch::End::preempted : CpuStretch::End::blocked, into);
            } else if (!unknown) {
                ++dropped_;
                running_ = {};
            }
            break;
        case Kind::exec:
            // The first record of the command; or a thread takes the id of its process.
            if (running_.thread != 0 && !same) close(record.time, CpuStretch::End::ended, into);
            if (running_.thread == 0) running_ = {record.process, record.thread, record.time};
            break;
        case Kind::exit:
            if (same) close(record.time, CpuStretch::End::ended, into);
            break;
        case Kind::lost: break;
    }
}

}  // namespace gpuprof::cpu
