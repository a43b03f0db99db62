// How fast copies of pinned memory between host and device are, on the machine that was recorded: from the strongest evidence that the
// recording has. Its range is wide where only the chip is known, because boards, slots and hosts may have less than the chip.
#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::inline facts {

class Facts;

enum class LinkBasis : std::uint8_t {
    copies,   // its own large copies of pinned memory
    sampled,  // the generation and width of the link, as sampled by the driver's interface
    chip,     // the fastest link of such a chip
    unknown,  // at least as fast as the recorded copies
};

struct HostLink {
    LinkBasis basis = LinkBasis::unknown;
    double low = 0, central = 0, high = 0;  // bytes per ns
    std::string name;                       // "PCIe 4 x16"; "" if from copies or unknown
    // "25.0 GB/s (11.2 to 26.5), as PCIe 4 x16 of such a GPU delivers".
    std::string text() const;
    static HostLink make(const Facts& facts);
};

}  // namespace gpuprof::facts
