#include "analyze/replay/hand_over.h"

#include <algorithm>

namespace gpuprof::inline replay {
namespace {

constexpr double kNearlyAll = 0.9;  // of B's activity must lie in visits
constexpr double kFilled = 0.5;     // of a pause must be B's work: A pauses for B, and not B inside any silence of A

bool in_call(const ThreadActivity& thread, Interval pause) {
    auto after = std::upper_bound(thread.calls.begin(), thread.calls.end(), pause.start,
                                  [](TimeNs time, const Interval& call) { return time < call.start; });
    return after != thread.calls.begin() && after[-1].end >= pause.end;
}

}  // namespace

std::vector<HandOver> find_hand_overs(const ThreadActivity& a, const ThreadActivity& b) {
    std::vector<HandOver> found;
    DurNs covered = 0;
    std::size_t i = 0;
    while (i < b.bounds.size()) {
        // The pause of A that holds B's event: from A's last bound to its next.
        auto next = std::upper_bound(a.bounds.begin(), a.bounds.end(), b.bounds[i]);
        if (next == a.bounds.begin() || next == a.bounds.end()) {
            ++i;
            continue;
        }
        Interval pause{next[-1], *next};
        std::size_t last = i;
        while (last + 1 < b.bounds.size() && b.bounds[last + 1] < pause.end) ++last;
        Interval work{b.bounds[i], b.bounds[last]};
        bool filled = static_cast<double>(work.length()) >= kFilled * static_cast<double>(pause.length());
        if (filled && pause.length() > 0 && !in_call(a, pause)) {
            found.push_back({0, 0, pause, work});
            covered += length_within(b.active, work);
        }
        i = last + 1;
    }
    if (static_cast<double>(covered) < kNearlyAll * static_cast<double>(length(b.active))) found.clear();
    return found;
}

}  // namespace gpuprof::replay
