#include "collect/inject/spool/part_ring.h"

#include <unistd.h>

#include <algorithm>

#include "collect/inject/spool/spool_file.h"

namespace gpuprof::inject {

bool PartRing::start(std::uint64_t ring_bytes) noexcept {
    if (ring_bytes > 0) ring_bytes_ = ring_bytes;
    parts_ = static_cast<Part*>(std::malloc(kMaxParts * sizeof(Part)));  // untouched pages cost nothing
    return parts_ != nullptr;
}

bool PartRing::ends(const SlowSteps& steps, std::int64_t began, std::uint64_t bytes, std::int64_t now) noexcept {
    constexpr std::int64_t kShare = 8;
    std::int64_t length = std::max(kMinLength, steps.longest_open(now) / kShare);
    return now - began >= length || bytes >= kMaxPartBytes;
}

void PartRing::add(const Part& part) noexcept { parts_[count_++] = part; }

void PartRing::discard(const char* folder, SlowSteps& steps, std::int64_t since) noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count_; ++i)
        if (!steps.kept_need(parts_[i].from, parts_[i].to)) bytes += parts_[i].bytes;
    std::size_t left = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const Part& part = parts_[i];
        bool kept = steps.kept_need(part.from, part.to), in_ring = part.to >= since;
        if (kept || (in_ring && bytes <= ring_bytes_)) {
            parts_[left++] = part;
            continue;
        }
        bytes -= part.bytes;
        if (in_ring) steps.forget_before(part.to);
        char path[SpoolFile::kPathBytes];
        if (SpoolFile::path_of(path, folder, part.name)) unlink(path);
    }
    count_ = left;
}

}  // namespace gpuprof::inject
