#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/base/clock.h"
#include "core/importers/reading.h"

namespace gpuprof {
namespace {

constexpr std::chrono::milliseconds kSilent{2000}, kRedraw{250};

Progress* shown = nullptr;

}  // namespace

Progress::Progress() {
    if (isatty(STDERR_FILENO) != 1 || shown != nullptr) return;
    shown = this;
    thread_ = std::thread([this] { run(); });
}

void Progress::end() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (drawn_) std::fputs("\r\033[K", stderr);
    shown = nullptr;
}

void Progress::run() {
    TimeNs begin = monotonic_ns();
    std::unique_lock lock(mutex_);
    for (auto wait = kSilent; !wake_.wait_for(lock, wait, [this] { return ending_; }); wait = kRedraw) {
        const Reading& files = reading();
        fmt::print(stderr, "\r\033[K{}\r",
                   progress_line(files.open > 0, files.read, files.size, monotonic_ns() - begin));
        std::fflush(stderr);
        drawn_ = true;
    }
}

void end_progress() {
    if (shown != nullptr) shown->end();
}

std::string progress_line(bool reading, std::uint64_t read, std::uint64_t size, DurNs elapsed) {
    std::string what = reading ? "reading" : "analysing";
    if (reading && size > 0)
        what += fmt::format(", {:.0f} %", 100 * std::min(1.0, static_cast<double>(read) / static_cast<double>(size)));
    return fmt::format("{} ({} s)", what, elapsed / 1'000'000'000);
}

}  // namespace gpuprof
