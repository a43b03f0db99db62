// Paths of nested names ("step/forward/linear"), each stored once and numbered; a path has a smaller number than its
// children.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

inline constexpr std::uint32_t kNoPath = 0xFFFFFFFFu;

struct NamePath {
    StringId name = kNoString;       // of the last part
    std::uint32_t parent = kNoPath;  // the enclosing path
    std::uint32_t depth = 0;         // number of parts before the last
};

class NamePaths {
public:
    // The path of `name` inside `parent` (kNoPath: at the root); created on first use.
    std::uint32_t inside(std::uint32_t parent, StringId name) {
        std::uint64_t key = (std::uint64_t{parent} << 32) | index_of(name);
        auto [found, added] = known_.try_emplace(key, static_cast<std::uint32_t>(paths_.size()));
        if (added) paths_.push_back({name, parent, parent == kNoPath ? 0 : paths_[parent].depth + 1});
        return found->second;
    }
    const std::vector<NamePath>& all() const { return paths_; }

    // "a/b/c", each part formatted by `shown(name)`; very deep paths are abbreviated in the middle ("a/.../z").
    template <class Shown>
    std::string text(std::uint32_t path, Shown shown) const;

private:
    static constexpr std::uint32_t kMaxPartsShown = 50;  // at each end of a path

    std::vector<NamePath> paths_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_;  // parent and name -> path
};

template <class Shown>
std::string NamePaths::text(std::uint32_t path, Shown shown) const {
    std::uint32_t parts_of_path = paths_[path].depth + 1;
    bool cut = parts_of_path > 2 * kMaxPartsShown;
    std::vector<std::string_view> parts;  // last part first
    std::uint32_t index = 0;
    for (std::uint32_t at = path; at != kNoPath; at = paths_[at].parent, ++index) {
        if (!cut || index < kMaxPartsShown || index >= parts_of_path - kMaxPartsShown)
            parts.push_back(shown(paths_[at].name));
        if (cut && index == kMaxPartsShown) parts.push_back("...");
    }
    std::string result;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part != parts.rbegin()) result += '/';
        result += *part;
    }
    return result;
}

}  // namespace gpuprof::facts
