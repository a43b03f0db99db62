// Whether a recording can be true: what hardware cannot do, and what a complete recording must have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline facts {

class Facts;

// More missing, early or timeless work than this share says that a recording is not what happened.
inline constexpr double kMaxDoubtfulShare = 0.05;
// If the device looks idle with work to do for more than this share of the window, idle time says nothing about the host.
inline constexpr double kMaxUnrecordedShare = 0.2;

inline constexpr std::string_view kIdleForAReason = "idle for a reason";

enum class CheckResult : std::uint8_t { holds, violated, not_checked };
// "holds", "violated", "not checked".
std::string_view name_of(CheckResult result);

struct RecordingCheck {
    std::string_view name;  // stable, in words
    std::string_view what;  // what holds in every true recording
    CheckResult result = CheckResult::holds;
    std::uint64_t checked = 0, found = 0;  // of what the check counts: ops, calls, events
    std::string example = {};              // the first that violates it, or why it was not checked
    std::string_view effect = {};          // what was done about it
    std::string no_verdict = {};           // why nothing is concluded, as a sentence; "" if something is
};

struct Validity {
    std::vector<RecordingCheck> checks;
    std::string found_when_read = {};  // why nothing can be concluded, before rows were repaired; "" if something can
    bool violated() const;
    // "the recording contradicts itself: ..."; "" if conclusions can be drawn.
    std::string contradiction() const;
    // Why the recording cannot be replayed, as a sentence; "" if it can.
    std::string no_prediction() const;
    static Validity make(const Facts& facts);
};

}  // namespace gpuprof::facts
