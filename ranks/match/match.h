// Which rows of different ranks are one collective. By the group's ranks and the sequence number where the recorder
// kept it; else, and for sends and receives, whose numbers each rank counts for itself, by their order within the step;
// so too where a rank has a number twice, as replays of CUDA graphs repeat it. Rows that differ in kind or in the size of
// a message are never one collective. Of a batch of sends and receives, each transfer is matched on its own (exchanges.h). Where the order decides, nothing may contradict it (match_order.h). A group of more
// ranks than its size is several groups of one name and is not matched. Rows without a group are only counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

enum class MatchRule : std::uint8_t { exact, order, guessed };
// "sequence number", "order in the step", "order, group assumed".
std::string_view name_of(MatchRule rule);

struct Instance {
    std::uint32_t first = 0, count = 0;  // its members: MatchedJob::members[first] ...
    std::uint32_t group = kNone;
    MatchRule rule = MatchRule::exact;
    bool complete = false;  // every rank of the group is there
    bool exchange = false;  // of its first member alone; the others are those that it waits for (exchanges.h)
};

struct MatchedJob {
    std::vector<Instance> instances;
    std::vector<std::uint32_t> members;      // indices of collectives, instance by instance, by rank
    std::vector<std::uint32_t> instance_of;  // by collective; kNone: alone
    std::size_t mismatched = 0;              // rows whose kind contradicts the others of their key
    std::size_t expected = 0, lost = 0;      // rows of ranks that recorded the step; those of them that are not there
    std::size_t uncertain = 0;               // rows whose order does not tell which collective they are of
    std::size_t shared = 0;                  // rows of a name that several groups have
    std::size_t undescribed = 0;             // rows without a group, and those of unproven groups
    std::vector<bool> unproven;              // by group: assumed, and nothing of it fits

    std::span<const std::uint32_t> of(const Instance& instance) const {
        return {members.data() + instance.first, instance.count};
    }
    // The members whose instance_of it is.
    std::span<const std::uint32_t> owners(const Instance& instance) const {
        return of(instance).first(instance.exchange ? 1 : instance.count);
    }

    static MatchedJob make(const Facts& facts);

private:
    void add(const Instance& instance);
};

}  // namespace gpuprof::ranks
