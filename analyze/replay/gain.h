// What removing a cause of lost time would give back: the prediction of a replay if the recording allows one, otherwise the idle
// time that the cause accounts for. Rules and verdicts ask this and compute nothing themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/replay/prediction.h"
#include "core/base/ids.h"
#include "core/model/answer.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline replay {

// In the order of how much it asks of the program to remove it.
enum class Waste : std::uint8_t {
    input,
    waits,
    host_sampling,
    between_steps,
    copies,
    allocation,
    host_code,
    launching,
    cuda_core_products,
    optimizer,
    full_precision,
    unfused_attention,
    slow_products,
    layouts,
    late_ranks,
    communication,
};

struct Gain {
    // Idle or exposed time that the cause accounts for, without what the recorder may have caused; all devices.
    DurNs idle_ns = 0;
    std::optional<Prediction> predicted;  // with the change that removes the cause
    // Of the whole recording, all devices: as predicted, or idle_ns. Predictions too small to be named count as 0.
    DurNs ns = 0;
    double pct = 0;  // ns: as predicted, of a step; otherwise of the window without the recorder's own work
};

// The prediction of one change as an answer shows it.
PredictedGain predicted_gain(const Prediction& prediction);

const Gain& gain_without(const Facts& facts, Waste waste);

// What a time of all devices is of the whole that verdicts divide: a step without the recorder's cost if first answers are based on a
// replay, else the window; in percent, at most 100.
double share_of_whole(const Facts& facts, DurNs time);
// "4.1 % of a step", "4.1 % of the time".
std::string share_text(const Facts& facts, DurNs time);

// Device ops up to which a first answer or the viewer waits for replays.
inline constexpr std::size_t kMaxReplayed = 500'000;

// Whether first answers are based on a replay: it is valid, small enough to wait for, and covers most of the recording.
struct Replayed {
    bool holds = false;
    bool too_large = false;
    static Replayed make(const Facts& facts);
};

}  // namespace gpuprof::replay
