#include "cli/record/os_calls.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "cli/output.h"
#include "cli/record/parts.h"
#include "collect/launch/injection.h"
#include "collect/os_calls/log_reader.h"
#include "core/base/host_name.h"
#include "core/base/path_search.h"
#include "core/format/capture_part.h"
#include "core/schema/facts.h"
#include "core/schema/os_call_facts.h"

namespace gpuprof::inline cli {
namespace {

using os_calls::kFunctionNames;
using os_calls::kFunctions;

constexpr double kDefaultMs = 1, kLeastMs = 0.001, kMostMs = 3'600'000;

struct Sums {
    struct Short {
        std::uint64_t count = 0, ns = 0;
    };
    std::array<Short, kFunctions> short_calls{};
    std::uint64_t least_ns = 0, dropped = 0, unfinished = 0;
};

void read_calls(const os_calls::LogReader& log, CapturePart& part, Sums& sums) {
    sums.least_ns = log.least_ns();
    sums.dropped += log.dropped();
    for (std::size_t i = 0; i < kFunctions; ++i) {
        sums.short_calls[i].count += log.short_count(i);
        sums.short_calls[i].ns += log.short_ns(i);
    }
    std::string key = fmt::format("{}:{}/", host_name(), log.process());
    RowBuffer& rows = part.table("os_call");
    for (std::size_t i = 0; i < log.calls(); ++i) {
        os_calls::LogReader::Entry call = log.call(i);
        if (call.function.empty()) {
            ++sums.unfinished;
            continue;
        }
        rows.add()
            .set("start", call.start)
            .set("dur", call.ns)
            .set("thread", part.intern(key + std::to_string(call.thread)))
            .set("name", part.intern(call.function));
    }
}

void add_facts(CapturePart& part, const Sums& sums) {
    part.add_fact(fact::kOsCallsLeastNs, std::to_string(sums.least_ns));
    for (std::size_t i = 0; i < kFunctions; ++i)
        if (const Sums::Short& calls = sums.short_calls[i]; calls.count > 0)
            part.add_fact(fmt::format("{}{}", fact::kShortOsCalls, kFunctionNames[i]),
                          fmt::format("{} {}", calls.count, calls.ns));
    if (sums.dropped > 0)
        part.add_loss("recorder_loss", static_cast<std::int64_t>(sums.dropped), "calls of the operating system");
    if (sums.unfinished > 0)
        part.add_loss("unfinished_op", static_cast<std::int64_t>(sums.unfinished), "calls of the operating system");
}

}  // namespace

void declare_os_calls(CommandLine& line, OsCallArguments& arguments) {
    line.text_option(
            "--os-calls", [&arguments](const std::string& least) { arguments.least = least; },
            "Record calls of the operating system that take at least MS milliseconds, such as read, poll and sem_wait "
            "(default: 1); shorter ones are counted.")
        .optional_value()
        .value("MS");
}

Result<std::int64_t> os_calls_least_ns(const OsCallArguments& arguments) {
    if (!arguments.least) return std::int64_t{0};
    double ms = kDefaultMs;
    const std::string& text = *arguments.least;
    const char* end = text.data() + text.size();
    std::from_chars_result read{end, std::errc()};
    if (!text.empty()) read = std::from_chars(text.data(), end, ms);
    if (read.ec != std::errc() || read.ptr != end || !(ms >= kLeastMs && ms <= kMostMs))
        return Error{ExitCode::usage,
                     fmt::format("invalid --os-calls '{}'; expected milliseconds, {}-{}", text, kLeastMs, kMostMs)};
    return static_cast<std::int64_t>(std::llround(ms * 1e6));
}

std::optional<PreloadPath> os_calls_preload() {
    std::string library = installed_file("libgpuprof_os_calls.so");
    Result<PreloadPath> path = library.empty()
                                   ? Error{ExitCode::internal, "cannot find libgpuprof_os_calls.so next to the program"}
                                   : PreloadPath::of(library);
    if (path.ok()) return std::move(*path);
    note(path.error().message + "; calls of the operating system are not recorded");
    return std::nullopt;
}

Status write_os_calls(const std::string& folder) {
    std::vector<std::string> logs = files_in(folder, fact::kOsCallLogSuffix);
    if (logs.empty()) return {};
    Result<std::unique_ptr<CapturePart>> opened =
        CapturePart::open(companion_part(folder, "os_calls"), fact::kRecorderTool, CapturePart::Publish::at_close);
    if (!opened.ok()) return opened.error();
    CapturePart& part = **opened;
    Sums sums;
    for (const std::string& log : logs) {
        std::ifstream stream(log, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        if (os_calls::LogReader reader(bytes); reader.valid())
            read_calls(reader, part, sums);
        else
            part.add_loss("unread_file", 1, log.substr(log.rfind('/') + 1));
        if (Status flushed = part.flush(); !flushed) return flushed;
    }
    add_facts(part, sums);
    if (Status closed = part.close(); !closed) return closed;
    for (const std::string& log : logs) unlink(log.c_str());
    return {};
}

}  // namespace gpuprof::cli
