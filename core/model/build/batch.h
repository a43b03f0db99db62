// What importers fill: rows of all tables with strings of their own, and what was lost on the way.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/string_pool.h"
#include "core/model/tables.h"
#include "core/schema/losses.h"

namespace gpuprof::inline model {

// Rows with their own strings: the output of one worker or one chunk.
struct Batch {
    Tables tables;
    StringPool strings;

    StringId intern(std::string_view text) { return strings.intern(text); }
    // Counts a loss; `place` (file, offset, row) is kept for the first of its kind.
    void lose(Loss loss, std::string_view place, std::uint64_t count = 1);
    // The same for things that have a name (a category of events, a table): the loss lists the count of each name.
    void lose_named(Loss loss, std::string_view place, std::string_view name, std::uint64_t count = 1);

    struct LossCount {
        std::uint64_t count = 0;
        std::string place;
        std::map<std::string, std::uint64_t, std::less<>> named;

        void add(const LossCount& other);
        // The place, then the names with their counts, most frequent first.
        std::string text() const;
    };
    std::array<LossCount, kLossKinds> losses;

    // Removes everything; memory is kept for what comes next.
    void clear();

    Batch();
    Batch(Batch&&) noexcept;
    Batch& operator=(Batch&&) noexcept;
    ~Batch();
};

}  // namespace gpuprof::model
