#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "io/importers/source/reading_progress.h"

namespace gpuprof::inline cli {
namespace {

constexpr ProgressPace kUsual{.first = std::chrono::milliseconds(2000), .next = std::chrono::milliseconds(250)};

Progress* on_screen = nullptr;

}  // namespace

Progress::Progress() : pace_(kUsual) {
    if (isatty(STDERR_FILENO) == 1) start(true);
}

Progress::Progress(std::function<std::string(DurNs)> line, ProgressPace pace) : line_(std::move(line)), pace_(pace) {
    start(isatty(STDERR_FILENO) == 1);
}

void Progress::start(bool terminal) {
    if (on_screen != nullptr) return;
    // Without a thread or memory for it, no progress is shown.
    Status started = caught([&] { thread_ = std::thread([this, terminal] { (void)caught([&] { run(terminal); }); }); });
    if (started) on_screen = this;
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
    on_screen = nullptr;
}

void Progress::run(bool terminal) {
    TimeNs begin = monotonic_ns();
    std::unique_lock lock(mutex_);
    for (auto wait = terminal ? pace_.first : pace_.note; !wake_.wait_for(lock, wait, [this] { return ending_; });
         wait = terminal ? pace_.next : pace_.note) {
        const ReadingProgress& files = reading();
        DurNs elapsed = monotonic_ns() - begin;
        std::string line = line_ ? line_(elapsed) : progress_line(files.open > 0, files.read, files.size, elapsed);
        if (terminal)
            fmt::print(stderr, "\r\033[K{}\r", line);
        else
            fmt::print(stderr, "gpu-profile: {}\n", line);
        std::fflush(stderr);
        drawn_ = terminal;
    }
}

void end_progress() {
    if (on_screen != nullptr) on_screen->end();
}

std::string progress_line(bool reading, std::uint64_t read, std::uint64_t size, DurNs elapsed) {
    std::string what = reading ? "reading" : "analysing";
    if (reading && size > 0)
        what += fmt::format(", {:.0f} %", 100 * std::min(1.0, static_cast<double>(read) / static_cast<double>(size)));
    return fmt::format("{} ({} s)", what, elapsed / 1'000'000'000);
}

}  // namespace gpuprof::cli
