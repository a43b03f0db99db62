// Devices as tools spell them in text: "0", "cuda:0", "amd:0", "gpu1", "XPU 0".
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/text/ascii.h"

namespace gpuprof::inline importers {

// The number at the end of such a name; absent if there is none, or something else is before it.
inline std::optional<std::int32_t> device_ordinal(std::string_view name) {
    constexpr std::int32_t kMost = 4096;
    std::size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    std::int32_t number = 0;
    auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), number);
    if (error != std::errc{} || number >= kMost) return std::nullopt;
    std::string_view kind = name.substr(0, at);
    if (kind.ends_with(':') || kind.ends_with(' ')) kind.remove_suffix(1);
    for (char c : kind)
        if (!is_letter(c)) return std::nullopt;
    return number;
}

// "amd", "nvidia" or "intel" of such a name or of a kind of device; "" if it names no vendor.
inline std::string_view vendor_of_kind(std::string_view name) {
    constexpr struct {
        std::string_view kind, vendor;
    } kKinds[] = {{"cuda", "nvidia"}, {"nvidia", "nvidia"}, {"hip", "amd"},    {"amd", "amd"},
                  {"rocm", "amd"},    {"xpu", "intel"},     {"intel", "intel"}};
    for (const auto& [kind, vendor] : kKinds) {
        bool same = name.size() >= kind.size() && (name.size() == kind.size() || !is_letter(name[kind.size()]));
        for (std::size_t i = 0; same && i < kind.size(); ++i) same = to_lower(name[i]) == kind[i];
        if (same) return vendor;
    }
    return "";
}

}  // namespace gpuprof::importers
