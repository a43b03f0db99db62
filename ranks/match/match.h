// Which rows of different ranks are one collective. By the group's ranks and the sequence number where the recorder
// kept it; else, and for sends and receives, whose numbers each rank counts for itself, by their order within the step;
// so too where a rank has a number twice, as replays of CUDA graphs repeat it. Rows that differ in kind or in the size of
// a message are never one collective. Of a batch of sends and receives, each transfer is matched on its own (Exchanges). Where the order decides, nothing may contradict it (match_order.h). A group of more
// ranks than its size is several groups of one name and is not matched. Rows without a group are only counted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

// Kernels of sends and receives, and how each waits. One that sends to several ranks or receives from several
// (`batch_isend_irecv` around a ring) waits for these, not for those that these exchange with. So each is an instance of
// its own, of which the others are members. For match.cc only.
class Exchanges {
public:
    explicit Exchanges(const Job& job) : job_(job) {}

    // Two collectives that have one transfer in common.
    void link(std::uint32_t a, std::uint32_t b);

    // `members`: a collective and its partners. `complete`: each of its transfers was found on the other rank too. `pair`: each of
    // two is the only partner of the other; they are visited once.
    using Visit = std::function<void(std::span<const std::uint32_t> members, bool complete, bool pair)>;
    // By first collective. Call after all links.
    void each(const Visit& visit);

private:
    using Link = std::pair<std::uint32_t, std::uint32_t>;
    bool is_complete(std::span<const Link> links) const;

    const Job& job_;
    std::vector<Link> links_;  // in both directions, once for each transfer
};

enum class MatchRule : std::uint8_t { exact, order, guessed };
// "sequence number", "order in the step", "order, group assumed".
std::string_view name_of(MatchRule rule);

struct Instance {
    std::uint32_t first = 0, count = 0;  // its members: MatchedJob::members[first] ...
    std::uint32_t group = kNone;
    MatchRule rule = MatchRule::exact;
    bool complete = false;  // every rank of the group is there
    bool exchange = false;  // of its first member alone; the others are those that it waits for (Exchanges)
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
