// Matches the kernels of BASE and NEW. A kernel is a group of launches with one name. The rules apply in this order,
// each to what the previous ones left over:
//   name      the full names are equal
//   template  equal without template arguments and parameters; then also without numbers (Triton names, tile sizes)
//   position  equal launches per step, and the same matched kernels before and after their first launch
// If several on a side match, they are paired in the order of their first launches if both sides have equally many, and
// otherwise not at all; both cases count as ambiguous. The rest is new or vanished.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/name_groups.h"
#include "compare/compared_run.h"

namespace gpuprof::compare {

enum class Match : std::uint8_t { name, stem, position, none };

// "name", "template", "position"; "" for none.
std::string_view name_of(Match match);

// The kernels of one run by name.
struct KernelNames {
    NameGroups groups;
    std::vector<Row> first;               // first launch of each group
    std::vector<std::string_view> names;  // of each group

    explicit KernelNames(const Run& run);
};

struct KernelPair {
    static constexpr std::uint32_t kUnpaired = 0xFFFFFFFFu;
    std::uint32_t base = kUnpaired, next = kUnpaired;  // groups; not both kUnpaired
    Match match = Match::none;
    bool ambiguous = false;
};

struct KernelPairs {
    std::vector<KernelPair> pairs;               // every group of either side in exactly one
    std::size_t ambiguous = 0;                   // groups with more than one candidate
    std::vector<std::uint32_t> of_base, of_new;  // group -> pair
};

KernelPairs match_kernels(const Run& base, const KernelNames& base_names, const Run& next,
                          const KernelNames& new_names);

// A kernel's name without template arguments, parameters and return type: "at::native::reduce_kernel".
std::string stem_of(std::string_view name);

}  // namespace gpuprof::compare
