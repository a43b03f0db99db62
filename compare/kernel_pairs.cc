// See the header for the rules.
#include "compare/kernel_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text/ascii.h"

namespace gpuprof::compare {
namespace {

constexpr std::uint32_t kUnpaired = KernelPair::kUnpaired;

std::string without_numbers(std::string_view name) {
    std::string text;
    for (char c : name) {
        if (!is_digit(c))
            text += c;
        else if (text.empty() || text.back() != '#')
            text += '#';
    }
    return text;
}

struct PairSide {
    const KernelNames& names;
    std::vector<std::uint32_t> pair;  // group -> pair, or kUnpaired
    double parts;

    PairSide(const KernelNames& given, const Run& run)
        : names(given), pair(given.names.size(), kUnpaired), parts(static_cast<double>(run.parts())) {}
    // Groups without a partner, in the order of their first launches.
    std::vector<std::uint32_t> left() const {
        std::vector<std::uint32_t> groups;
        for (std::uint32_t group = 0; group < pair.size(); ++group)
            if (pair[group] == kUnpaired) groups.push_back(group);
        return groups;
    }
};

class Matcher {
public:
    Matcher(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names)
        : base_(base_names, base), next_(new_names, next) {}

    KernelPairs match() {
        by_key(Match::name,
               [](const PairSide& side, std::uint32_t group) { return std::string(side.names.names[group]); });
        by_key(Match::stem, [](const PairSide& side, std::uint32_t group) { return stem_of(side.names.names[group]); });
        by_key(Match::stem, [](const PairSide& side, std::uint32_t group) {
            return without_numbers(stem_of(side.names.names[group]));
        });
        by_key(Match::position, [](const PairSide& side, std::uint32_t group) { return place_of(side, group); });
        for (std::uint32_t group : base_.left()) add({group, kUnpaired, Match::none, ambiguous_base_[group]});
        for (std::uint32_t group : next_.left()) add({kUnpaired, group, Match::none, ambiguous_new_[group]});
        for (const KernelPair& pair : result_.pairs) result_.ambiguous += pair.ambiguous;
        result_.of_base = std::move(base_.pair);
        result_.of_new = std::move(next_.pair);
        return std::move(result_);
    }

private:
    struct Bucket {
        std::vector<std::uint32_t> base, next;
    };

    void add(const KernelPair& pair) {
        auto index = static_cast<std::uint32_t>(result_.pairs.size());
        if (pair.base != kUnpaired) base_.pair[pair.base] = index;
        if (pair.next != kUnpaired) next_.pair[pair.next] = index;
        result_.pairs.push_back(pair);
    }

    // Pairs groups with the same key; an empty key pairs nothing.
    template <class Key>
    void by_key(Match match, Key&& key) {
        std::unordered_map<std::string, Bucket> buckets;
        std::vector<std::uint32_t> left = base_.left();
        std::vector<std::string> order;
        for (std::uint32_t group : left) {
            std::string text = key(base_, group);
            if (text.empty()) continue;
            Bucket& bucket = buckets[text];
            if (bucket.base.empty()) order.push_back(text);
            bucket.base.push_back(group);
        }
        for (std::uint32_t group : next_.left())
            if (auto found = buckets.find(key(next_, group)); found != buckets.end())
                found->second.next.push_back(group);
        for (const std::string& text : order) pair_up(match, buckets[text]);
    }

    void pair_up(Match match, const Bucket& bucket) {
        if (bucket.next.empty()) return;
        bool ambiguous = bucket.base.size() > 1 || bucket.next.size() > 1;
        if (bucket.base.size() != bucket.next.size()) {
            for (std::uint32_t group : bucket.base) ambiguous_base_[group] = true;
            for (std::uint32_t group : bucket.next) ambiguous_new_[group] = true;
            return;
        }
        for (std::size_t i = 0; i < bucket.base.size(); ++i) add({bucket.base[i], bucket.next[i], match, ambiguous});
    }

    // The matched kernels around the first launch, the distance to the first of them, and the number of launches.
    static std::string place_of(const PairSide& side, std::uint32_t group) {
        const NameGroups& groups = side.names.groups;
        Row first = side.names.first[group];
        auto pair_at = [&](Row row) {
            return groups.of(row) == NameGroups::kLeftOut ? kUnpaired : side.pair[groups.of(row)];
        };
        std::uint32_t before = kUnpaired, after = kUnpaired;
        Row row = first, away = 0;
        while (row > 0 && before == kUnpaired) {
            before = pair_at(--row);
            ++away;
        }
        for (row = first + 1; row < groups.rows() && after == kUnpaired; ++row) after = pair_at(row);
        if (before == kUnpaired && after == kUnpaired) return "";
        double launches = std::round(10 * static_cast<double>(groups.count(group)) / side.parts) / 10;
        return fmt::format("{} {} {} {}", before, away, after, launches);
    }

    PairSide base_, next_;
    KernelPairs result_;
    std::unordered_map<std::uint32_t, bool> ambiguous_base_, ambiguous_new_;
};

}  // namespace

std::string_view name_of(Match match) {
    constexpr std::string_view kNames[] = {"name", "template", "position", ""};
    return kNames[static_cast<std::size_t>(match)];
}

KernelNames::KernelNames(const Run& run)
    : groups(run.trace->kernel().name, run.trace->strings().size(), [&](Row row) {
          std::int64_t only = run.facts->options().device;
          return only < 0 || run.trace->kernel().device.value_or(row, -1) == only;
      }) {
    first.assign(groups.size(), kNoRow);
    for (Row row = 0; row < groups.rows(); ++row)
        if (std::uint32_t group = groups.of(row); group != NameGroups::kLeftOut && first[group] == kNoRow)
            first[group] = row;
    for (std::size_t i = 0; i < groups.size(); ++i)
        names.push_back(groups.name(i) == kNoString ? std::string_view("(no name)") : run.trace->text(groups.name(i)));
}

std::string stem_of(std::string_view name) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    std::string stem;
    int angles = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name.substr(i).starts_with(kAnonymous)) {
            if (angles == 0) stem += kAnonymous;
            i += kAnonymous.size() - 1;
        } else if (name[i] == '<') {
            ++angles;
        } else if (name[i] == '>' && angles > 0) {
            --angles;
        } else if (angles == 0 && name[i] == '(') {
            break;
        } else if (angles == 0) {
            stem += name[i];
        }
    }
    // The return type precedes the last blank outside brackets; template instances include it, other functions do
    // not.
    std::size_t blank = stem.rfind(' ');
    if (blank != stem.npos && stem.rfind(kAnonymous) == stem.npos) stem.erase(0, blank + 1);
    if (stem.starts_with("void ")) stem.erase(0, 5);
    return stem;
}

KernelPairs match_kernels(const Run& base, const KernelNames& base_names, const Run& next,
                          const KernelNames& new_names) {
    return Matcher(base, base_names, next, new_names).match();
}

}  // namespace gpuprof::compare
