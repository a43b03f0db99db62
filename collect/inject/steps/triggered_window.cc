#include "collect/inject/steps/triggered_window.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "collect/inject/settings.h"
#include "collect/inject/spool/spool_file.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/schema/job_place.h"

namespace gpuprof::inject {
namespace {

// Waking is what an idle spool thread costs: 0.6 ms of CPU per second at this interval, 3.1 ms at 10 ms (EPYC virtual machine).
constexpr std::int64_t kIdlePoll = 100 * kMillisecond;
// Switching CUPTI's kinds on took up to 5 ms in 96 windows of 32 processes on two cores.
constexpr std::int64_t kPrepare = 100 * kMillisecond;
constexpr std::int64_t kBusyPause = 10 * kMillisecond;
constexpr std::int64_t kClockGrace = 1000 * kMillisecond;

}  // namespace

void TriggeredWindow::start(std::int64_t part) noexcept {
    rank_ = find_job_place([](const char* name) { return std::getenv(name); }).rank;
    report_.pid = getpid();
    report_.rank = rank_;
    report_.part = part;
    write();
}

// Reads the control file, at most ten times a second.
void TriggeredWindow::poll(std::int64_t now) noexcept {
    if (polled_ != 0 && now - polled_ < kIdlePoll) return;
    polled_ = now;
    char path[sizeof settings().folder + 16];
    std::snprintf(path, sizeof path, "%s/%s", settings().folder, control::kFile);
    control::Request request;
    std::uint64_t identity = 0;
    switch (control::read_request(path, realtime_ns(), request, identity)) {
        case control::Found::nothing: return;
        case control::Found::refused:
            if (identity == refused_file_) return;
            refused_file_ = identity;
            ++report_.refused;
            return write();
        case control::Found::request:
            if (request.id <= last_id_) return;
            last_id_ = request.id;
            return take(request);
    }
}

void TriggeredWindow::take(const control::Request& request) noexcept {
    if (phase_ != idle_phase && request.number == request_.number) {
        request_.close = std::min(request_.close, request.close);
    } else if (!request.asks(rank_) || request.close <= realtime_ns()) {
        return;
    } else if (phase_ == idle_phase) {
        request_ = request;
        phase_ = waiting;
        report_.number = request.number;
        report_.state = control::WindowState::waiting;
        report_.open = request.open;
        report_.opened = report_.closed = report_.first_step = report_.last_step = 0;
        write();
    } else {
        next_ = request;
        request_.close = 0;  // it replaces the one in progress
    }
}

bool TriggeredWindow::follow(Window& window, std::int64_t now, bool delivered) noexcept {
    poll(now);
    std::int64_t time = realtime_ns();
    if (phase_ == waiting && time >= request_.close) {  // stopped before it opened, or the thread got no CPU
        report_.state = control::WindowState::late;
        write();
        phase_ = idle_phase;
    }
    if (phase_ == waiting && time >= request_.open - kPrepare) {
        window.announce(true);
        phase_ = ready;
        turning_ = true;
        return true;
    }
    if (phase_ == ready && time >= request_.open) {
        report_.opened = window.open_plan(request_.steps);
        report_.first_step = window.steps() + 1;
        report_.state = control::WindowState::open;
        deadline_ = now + (request_.close - request_.open) + kClockGrace;
        phase_ = open;
        write();
    }
    if (phase_ == open && (time >= request_.close || now >= deadline_ || !window.planned())) close(window);
    if (phase_ == closing && delivered) {
        turning_ = true;
        return true;
    }
    return false;
}

// The step that was in progress is not whole.
void TriggeredWindow::close(Window& window) noexcept {
    window.close_plan();
    window.announce(false);
    report_.closed = window.closed_at();
    report_.last_step = window.steps_at_end() - 1;
    if (report_.last_step < report_.first_step) report_.first_step = report_.last_step = 0;
    phase_ = closing;
}

void TriggeredWindow::turned(std::int64_t before, std::int64_t after) noexcept {
    if (!turning_) return;
    turning_ = false;
    char path[SpoolFile::kPathBytes];
    if (phase_ == ready) {
        // Nothing was recorded in the part before.
        if (before != after && SpoolFile::path_of(path, settings().folder, before)) unlink(path);
        report_.part = after;
        return;
    }
    report_.state = control::WindowState::done;
    report_.part = before;
    write();
    phase_ = idle_phase;
    if (next_.id == 0) return;
    control::Request next = next_;
    next_ = {};
    take(next);
}

void TriggeredWindow::finish(Window& window) noexcept {
    if (phase_ == open) close(window);
    if (phase_ == closing) report_.state = control::WindowState::done;
    if (phase_ == waiting || phase_ == ready) report_.state = control::WindowState::late;
    write();
}

std::int64_t TriggeredWindow::pause() const noexcept {
    std::int64_t time = realtime_ns(), most = idle() ? kIdlePoll : kBusyPause, left = most;
    if (phase_ == waiting) left = request_.open - kPrepare - time;
    if (phase_ == ready) left = request_.open - time;
    if (phase_ == open) left = request_.close - time;
    return std::clamp<std::int64_t>(left, 0, most);
}

// Replaced as a whole, so that the launcher never reads half a line.
void TriggeredWindow::write() const noexcept {
    char line[control::kMaxBytes], path[sizeof settings().folder + 64], part[sizeof path];
    std::size_t size = control::write_report(report_, line);
    std::snprintf(path, sizeof path, "%s/%d-%d%s", settings().folder, static_cast<int>(report_.pid),
                  static_cast<int>(report_.number), control::kReportSuffix);
    std::snprintf(part, sizeof part, "%s/.%d-%d", settings().folder, static_cast<int>(report_.pid),
                  static_cast<int>(report_.number));
    int file = ::open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    bool whole = ::write(file, line, size) == static_cast<ssize_t>(size);
    ::close(file);
    if (!whole || rename(part, path) != 0) unlink(part);
}

}  // namespace gpuprof::inject
