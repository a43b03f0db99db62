// While a gap is explained: its pieces, each with a cause. Private to gaps.cc.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/analyze/facts/idle_gap.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

// The pieces of one gap, summed by cause and name.
class Pieces {
public:
    // Every span that is added goes to `spans` as well, when there is one.
    explicit Pieces(PodVector<IdleSpan>* spans) : spans_(spans) {}

    void clear() { pieces_.clear(); }
    // `recording`: what making the records in it cost the thread, at least.
    void add(IdleCause cause, StringId name, StringId thread, Interval span, DurNs recording = 0) {
        DurNs dur = span.length();
        if (dur <= 0) return;
        recording = std::min(recording, dur);
        if (spans_ != nullptr) spans_->push_back({span.start, dur, 0, cause});
        for (Piece& piece : pieces_)
            if (piece.cause == cause && piece.name == name && piece.thread == thread) {
                piece.dur += dur;
                piece.recording += recording;
                return;
            }
        pieces_.push_back({dur, recording, name, thread, cause});
    }
    // Gives the gap its main cause and what the host did; adds the pieces to the device's totals.
    void settle(IdleGap& gap, DeviceIdle& device) const {
        std::array<DurNs, kIdleCauses> by_cause{};
        for (const Piece& piece : pieces_) by_cause[static_cast<std::size_t>(piece.cause)] += piece.dur;
        auto largest = std::max_element(by_cause.begin(), by_cause.end());
        gap.cause = static_cast<IdleCause>(largest - by_cause.begin());
        DurNs most = -1, recording = 0;
        for (const Piece& piece : pieces_) {
            if (piece.cause != gap.cause) continue;
            recording += piece.recording;
            if (piece.dur - piece.recording <= most) continue;
            most = piece.dur - piece.recording;
            gap.host_what = piece.name;
            if (piece.thread != kNoString) gap.host_thread = piece.thread;
        }
        gap.recording = recording > most;
        if (gap.recording) gap.host_what = kNoString;
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            if (by_cause[cause] == 0) continue;
            device.causes[cause].total += by_cause[cause];
            ++device.causes[cause].count;
        }
    }

    DurNs of(IdleCause cause) const {
        DurNs sum = 0;
        for (const Piece& piece : pieces_)
            if (piece.cause == cause) sum += piece.dur;
        return sum;
    }
    void add_to(std::array<DurNs, kIdleCauses>& sums) const {
        for (const Piece& piece : pieces_) sums[static_cast<std::size_t>(piece.cause)] += piece.dur;
    }

private:
    struct Piece {
        DurNs dur, recording;
        StringId name;
        StringId thread;
        IdleCause cause;
    };
    PodVector<IdleSpan>* spans_;
    std::vector<Piece> pieces_;
};

}  // namespace gpuprof
