// What is known about versions of CUPTI, as cuptiGetVersion numbers them: 18 is 11.8 to 12.1, single numbers follow up to
// 12.9, and from 13.0 on 130000 + 100 * minor + update. Source: NVIDIA's headers and release notes of 11.8 to 13.5.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline format::cupti {

// With these versions and later ones, a process may have several subscribers: 13.3 before update 1 crashes with two of
// them. The driver's is that of cuDriverGetVersion; its name is r610.
inline constexpr std::uint32_t kFirstWithSubscribers = 130301;
inline constexpr int kFirstDriverWithSubscribers = 13030;

struct NamedVersion {
    std::uint32_t version;
    std::string_view name;
};
inline constexpr NamedVersion kNamedVersions[] = {{18, "11.8 to 12.1"}, {20, "12.2"}, {21, "12.3"},
                                                  {22, "12.4"},         {23, "12.5"}, {24, "12.6"},
                                                  {26, "12.8"},         {27, "12.9"}, {28, "12.9 update 1"}};

// Defects of single versions that concern recordings.
struct KnownDefect {
    std::uint32_t first, last;
    std::string_view what, remedy;
};
inline constexpr KnownDefect kKnownDefects[] = {
    {130000, 130000, "can deadlock when kernels are switched off, and crash in a flush",
     "update to CUDA 13.0 update 1 or later"},
    {130200, 130299, "slows down programs with each call, and crashes programs that call it without a driver",
     "update to CUDA 13.3 update 1 or later"},
    {130300, 130300, "crashes when two subscribers trace, and with drivers before r610",
     "update to CUDA 13.3 update 1 or later"},
    {130400, 130400, "uses more and more CPU time in long recordings, and names reloaded kernels wrongly",
     "update to CUDA 13.4 update 1 or later"},
};

// Null: none.
constexpr const KnownDefect* defect_of(std::uint32_t version) noexcept {
    for (const KnownDefect& defect : kKnownDefects)
        if (version >= defect.first && version <= defect.last) return &defect;
    return nullptr;
}

}  // namespace gpuprof::format::cupti
