// Whether the order of records says which of them are one collective. Without sequence numbers the k-th record of a rank
// in a step is taken for the k-th of the others. That is wrong for recordings that lost records, begin elsewhere, or
// count their steps from another one, and no clock shows it: what is wrong by the same time everywhere looks like an
// offset. So the order counts only where nothing contradicts it. Private to match.cc and its tests.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

// Equal for the members of one collective, which a sequence number identifies, or else its place among the records of a rank
// that look alike.
struct OrderKey {
    std::uint32_t group = 0;                        // index in Job::groups
    bool by_order = false;                          // `seq` is not enough
    std::int32_t from = -1;                         // rank, of a send or receive
    std::int32_t to = -1;                           // rank, of a send or receive
    std::int64_t bytes = -1;                        // of a message whose group is only assumed
    std::int64_t seq = -1;                          // by order: a number that its rank has more than once
    CollectiveKind kind = CollectiveKind::unknown;  // by order
    std::int64_t step = -1;                         // by order
    std::int64_t place = 0;                         // by order: in the step

    // Equal in all steps.
    auto series() const { return std::tie(group, by_order, from, to, bytes, seq, kind); }
    auto operator<=>(const OrderKey&) const = default;
};

inline constexpr std::uint16_t kWhole = UINT16_MAX;

struct OrderedCollective {
    OrderKey key;
    std::uint32_t collective;     // index in Job::collectives
    std::uint16_t part = kWhole;  // of a batch: index of its transfer
};

// Its message; -1: unknown.
std::int64_t bytes_of(const Job& job, const OrderedCollective& record);

// Whether each of these records, sorted by key, may be matched by its order. Not where
// - ranks have unequal numbers of them in a step, or unequal messages at one place;
// - one of the ranks lost some elsewhere, and this step has fewer than the fullest one;
// - the pauses between a rank's records differ from those of the others as if they were other collectives. Pauses as even
//   as the noise of clocks tell nothing, so they count as different too, unless both ranks are `whole`, or of one host,
//   by whose clock records at the same place overlap. Where all ranks are only assumed to be the group, one of these has to
//   speak for it; and where it is one of several such groups, that they end at one time, by one clock.
std::vector<bool> trusted_orders(const Job& job, std::span<const OrderedCollective> records,
                                 const std::vector<bool>& whole);

// Whether the numbered records of each rank, by index in Job::ranks, show that it lost nothing of the steps that were
// read and counts steps as the others do. `numbered`: with keys of group and number, sorted.
std::vector<bool> whole_recordings(const Job& job, std::span<const OrderedCollective> numbered);

// Kinds whose members have messages of the same size.
bool has_equal_messages(CollectiveKind kind);
// Kinds whose ends agree. The ends of others may differ by milliseconds, another way in each step.
bool ends_together(CollectiveKind kind);

}  // namespace gpuprof::ranks
