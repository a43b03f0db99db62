// Builds a Trace from batches of rows. Importers fill a Batch (or several, on several threads: a Batch owns its strings),
// append them in the order of the input and finish. finish() repairs what conventions allow (counted as losses), sorts,
// links and freezes; all decisions about order and joins live here, none in importers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/losses.h"

namespace gpuprof {

// Rows with their own strings: what one worker or one chunk produces.
struct Batch {
    Tables tables;
    StringPool strings;

    StringId intern(std::string_view text) { return strings.intern(text); }
    // Counts a loss; `place` (file, offset, row) is kept for the first of its kind.
    void lose(Loss loss, std::string_view place, std::uint64_t count = 1);
    // The same of something that has a name (a category of events, a table): the loss says how many of each.
    void lose_named(Loss loss, std::string_view place, std::string_view name, std::uint64_t count = 1);

    struct LossCount {
        std::uint64_t count = 0;
        std::string place;
        std::map<std::string, std::uint64_t, std::less<>> named;

        void add(const LossCount& other);
        // The place, then the names with their counts, the most frequent first.
        std::string text() const;
    };
    std::array<LossCount, kLossKinds> losses;

    // Back to nothing; memory is kept for what comes next.
    void clear() {
        tables.clear();
        strings.clear();
        losses = {};
    }
};

class TraceBuilder {
public:
    explicit TraceBuilder(Origin origin) { trace_.origin_ = std::move(origin); }

    // Takes the rows of `batch`, in order. The batch is empty afterwards.
    void append(Batch&& batch);
    // The first to say wins: of a recording in parts, the one that put them together.
    void set_tool(std::string tool) {
        if (trace_.origin_.tool.empty()) trace_.origin_.tool = std::move(tool);
    }
    // What is added to every time of the appended rows, for recorders that write times since a base of their own. The importer
    // sees to it that times and base stay within 2^61 ns of zero.
    void set_time_base(TimeNs base) { time_base_ = base; }
    void set_meta(std::string_view key, std::string_view value);
    void lose(Loss loss, std::string_view place, std::uint64_t count = 1) { rest_.lose(loss, place, count); }

    // The finished trace. Never fails on bad rows; those are losses of the trace.
    Trace finish() &&;

private:
    Trace trace_;
    TimeNs time_base_ = 0;
    Batch rest_;         // rows made here: meta and losses
    bool empty_ = true;  // no batch was appended yet; the first one is moved, not copied
};

}  // namespace gpuprof
