// The pieces of a gap while it is being explained, each with a cause. Private to gaps.cc.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyze/facts/idle/idle_gap.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

// The pieces of one gap, summed by cause and name.
class Pieces {
public:
    // Every added span is also appended to `spans`, if given.
    explicit Pieces(PodVector<IdleSpan>* spans) : spans_(spans) {}

    void clear() { pieces_.clear(); }
    // `recording`: lower bound of the recorder's overhead on the thread in this piece.
    void add(IdleCause cause, StringId name, StringId thread, Interval span, DurNs recording = 0) {
        DurNs dur = span.length();
        if (dur <= 0) return;
        recording = std::min(recording, dur);
        if (spans_ != nullptr) spans_->push_back({.start = span.start, .dur = dur, .cause = cause, .thread = thread});
        for (Piece& piece : pieces_)
            if (piece.cause == cause && piece.name == name && piece.thread == thread) {
                piece.dur += dur;
                piece.recording += recording;
                return;
            }
        pieces_.push_back({dur, recording, name, thread, cause});
    }
    // Sets the gap's main cause and host activity; adds the pieces to the device's totals.
    void add_to(IdleGap& gap, DeviceIdle& device) const {
        std::array<DurNs, kIdleCauses> by_cause{};
        for (const Piece& piece : pieces_) by_cause[static_cast<std::size_t>(piece.cause)] += piece.dur;
        gap.cause = IdleCause{};
        for (const Piece& piece : pieces_) {  // few, since most causes have no piece
            DurNs here = by_cause[static_cast<std::size_t>(piece.cause)],
                  largest = by_cause[static_cast<std::size_t>(gap.cause)];
            if (here > largest || (here == largest && piece.cause < gap.cause)) gap.cause = piece.cause;
        }
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
        for (const Piece& piece : pieces_) {
            auto cause = static_cast<std::size_t>(piece.cause);
            DurNs sum = std::exchange(by_cause[cause], 0);
            device.causes[cause].total += sum;
            device.causes[cause].count += sum > 0;
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

}  // namespace gpuprof::facts
