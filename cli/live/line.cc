#include "cli/live/line.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/terminal.h"
#include "core/base/clock.h"
#include "core/base/text/readable.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

std::string describe(const Reading& reading) {
    std::string text = fmt::format("GPU {}", reading.device);
    if (auto util = reading.get(Metric::util_gpu)) text += fmt::format(" {:3.0f} %", *util);
    if (auto used = reading.get(Metric::mem_used)) text += fmt::format(" {}", readable_bytes(*used * 1024 * 1024));
    if (auto power = reading.get(Metric::power)) text += fmt::format(" {:.0f} W", *power);
    if (auto temp = reading.get(Metric::temp)) text += fmt::format(" {:.0f} C", *temp);
    return text;
}

}  // namespace

void LiveLine::show(const PollResult& polled) {
    for (const Reading& reading : polled.readings) newest_[reading.device] = reading;
    TimeNs now = monotonic_ns();
    if (newest_.empty() || now - drawn_ < 100'000'000) return;
    drawn_ = now;
    std::string line;
    for (const auto& [device, reading] : newest_) line += (line.empty() ? "" : "  |  ") + describe(reading);
    auto room = static_cast<std::size_t>(style_for("-").width - 1);
    if (line.size() > room) line.resize(room);
    fmt::print(stderr, "\r{:<{}}", line, room);
    std::fflush(stderr);
    visible_ = true;
}

void LiveLine::clear() {
    if (visible_) fmt::print(stderr, "\r{:<{}}\r", "", style_for("-").width - 1);
    visible_ = false;
}

}  // namespace gpuprof::cli
