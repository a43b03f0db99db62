#include "cli/record/record_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr DurNs kCheckInterval = 250'000'000, kDrawInterval = 1'000'000'000;

void write_to_terminal(const std::string& text) {
    ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
    static_cast<void>(ignored);
}

}  // namespace

std::string progress_text(DurNs elapsed, std::uint64_t bytes, std::size_t parts) {
    return fmt::format("recording {} s, {} in {} part{}", elapsed / 1'000'000'000,
                       readable_bytes(static_cast<double>(bytes)), parts, parts == 1 ? "" : "s");
}

RecordingWatch::RecordingWatch(const SpoolFolder& folder, WatchOptions options)
    : folder_(folder), options_(std::move(options)) {
    draws_ = options_.progress && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0;
}

void RecordingWatch::start() {
    started_ = drawn_at_ = monotonic_ns();
    if (draws_ || options_.max_bytes > 0) thread_ = std::thread([this] { run(); });
}

void RecordingWatch::run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::nanoseconds(kCheckInterval), [this] { return stopping_; })) {
        lock.unlock();
        (void)caught([this] { look(); });  // the next look may succeed
        lock.lock();
    }
}

void RecordingWatch::look() {
    DurNs elapsed = monotonic_ns() - started_;
    bytes_ = folder_.bytes();
    if (options_.max_bytes > 0 && bytes_ >= options_.max_bytes && !full_after_) {
        full_after_ = elapsed;
        folder_.report_disk_full();
        if (options_.on_full) options_.on_full();
    }
    if (draws_ && started_ + elapsed - drawn_at_ >= kDrawInterval) draw(elapsed);
}

void RecordingWatch::draw(DurNs elapsed) {
    drawn_ = true;
    drawn_at_ = started_ + elapsed;
    write_to_terminal(fmt::format("\r\033[K{}\r", progress_text(elapsed, bytes_, folder_.files().size())));
}

void RecordingWatch::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    if (drawn_) write_to_terminal("\r\033[K");
}

}  // namespace gpuprof::cli
