#include "cli/ranks/job_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/ids.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr double kMB = 1e6, kGB = 1e9;

// Both in the unit of the larger one.
std::string part_of(double done, double all) {
    bool large = all >= kGB;
    double unit = large ? kGB : kMB;
    return fmt::format("{:.1f} of {:.1f} {}", done / unit, all / unit, large ? "GB" : "MB");
}

}  // namespace

void JobProgress::count(std::uint64_t file_bytes, bool kept, bool is_lost) {
    bytes_done += file_bytes;
    if (kept) bytes_kept += file_bytes;
    if (is_lost) ++lost;
    ++files_done;
}

std::string JobProgress::line(DurNs elapsed) const {
    if (files == 0) return "listing files";
    std::string text = fmt::format("{} of {} files", readable_count(static_cast<std::int64_t>(files_done)),
                                   readable_count(static_cast<std::int64_t>(files)));
    auto all = static_cast<double>(bytes), done = std::min(static_cast<double>(bytes_done), all);
    double seconds = static_cast<double>(elapsed) / kNsPerSecond;
    double rate = seconds > 0 ? (done - static_cast<double>(bytes_kept)) / seconds : 0;
    if (all > 0) text += ", " + part_of(done, all);
    if (rate > 0) text += fmt::format(", {:.2f} GB/s", rate / kGB);
    if (std::uint64_t ranks = lost) text += fmt::format(", {} {} lost", ranks, ranks == 1 ? "rank" : "ranks");
    if (rate > 0 && done < all) text += fmt::format(", {:.0f} s left", (all - done) / rate);
    return text;
}

}  // namespace gpuprof::cli
