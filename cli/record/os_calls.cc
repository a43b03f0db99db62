#include "cli/record/os_calls.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "cli/output.h"
#include "cli/record/parts.h"
#include "collect/launch/injection.h"
#include "collect/os_calls/log.h"
#include "core/base/host_name.h"
#include "core/base/path_search.h"
#include "core/format/capture_part.h"
#include "core/schema/facts.h"
#include "core/schema/os_call_facts.h"

namespace gpuprof {
namespace {

using os_calls::Call;
using os_calls::kFunctionNames;
using os_calls::kFunctions;
using os_calls::LogHeader;

constexpr double kDefaultMs = 1, kLeastMs = 0.001, kMostMs = 3'600'000;

struct Sums {
    struct Short {
        std::uint64_t count = 0, ns = 0;
    };
    std::array<Short, kFunctions> short_calls{};
    std::uint64_t least_ns = 0, dropped = 0, unfinished = 0;
};

template <class T>
T at(std::string_view bytes, std::size_t offset) {
    T value{};
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// Whether the file is a log of this build, as long as it says.
bool is_log(std::string_view bytes) {
    if (bytes.size() < sizeof(LogHeader)) return false;
    auto capacity = at<std::uint64_t>(bytes, offsetof(LogHeader, capacity));
    return at<std::uint64_t>(bytes, offsetof(LogHeader, magic)) == os_calls::kLogMagic &&
           at<std::uint64_t>(bytes, offsetof(LogHeader, build)) == os_calls::build_of_log() &&
           capacity <= bytes.size() && os_calls::log_bytes(capacity) == bytes.size();
}

void read_calls(std::string_view bytes, CapturePart& part, Sums& sums) {
    auto process = at<std::int64_t>(bytes, offsetof(LogHeader, process));
    auto capacity = at<std::uint64_t>(bytes, offsetof(LogHeader, capacity));
    auto begun = std::min(capacity, at<std::uint64_t>(bytes, offsetof(LogHeader, begun)));
    sums.least_ns = at<std::uint64_t>(bytes, offsetof(LogHeader, least_ns));
    sums.dropped += at<std::uint64_t>(bytes, offsetof(LogHeader, dropped));
    for (std::size_t i = 0; i < kFunctions; ++i) {
        std::size_t place = offsetof(LogHeader, short_calls) + i * sizeof(os_calls::ShortCalls);
        sums.short_calls[i].count += at<std::uint64_t>(bytes, place);
        sums.short_calls[i].ns += at<std::uint64_t>(bytes, place + 8);
    }
    std::string key = fmt::format("{}:{}/", host_name(), process);
    RowBuffer& rows = part.table("os_call");
    for (std::uint64_t i = 0; i < begun; ++i) {
        std::size_t place = sizeof(LogHeader) + i * sizeof(Call);
        auto function = at<std::uint32_t>(bytes, place + offsetof(Call, function));
        if (function == 0 || function > kFunctions) {
            ++sums.unfinished;
            continue;
        }
        rows.add()
            .set("start", at<std::int64_t>(bytes, place + offsetof(Call, start)))
            .set("dur", at<std::int64_t>(bytes, place + offsetof(Call, ns)))
            .set("thread", part.intern(key + std::to_string(at<std::int32_t>(bytes, place + offsetof(Call, thread)))))
            .set("name", part.intern(kFunctionNames[function - 1]));
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
            "--os-calls",
            [&arguments](const std::string& least) {
                arguments.given = true;
                arguments.least = least;
            },
            "Record calls of the operating system that take at least MS milliseconds, such as read, poll and sem_wait "
            "(default: 1); shorter ones are counted.")
        .optional_value()
        .value("MS");
}

Result<std::int64_t> os_calls_least_ns(const OsCallArguments& arguments) {
    if (!arguments.given) return std::int64_t{0};
    double ms = kDefaultMs;
    const std::string& text = arguments.least;
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
    std::vector<std::string> logs = files_in(folder, os_calls::kLogSuffix);
    if (logs.empty()) return {};
    Result<std::unique_ptr<CapturePart>> opened =
        CapturePart::open(companion_part(folder, "os_calls"), fact::kRecorderTool, CapturePart::Publish::at_close);
    if (!opened.ok()) return opened.error();
    CapturePart& part = **opened;
    Sums sums;
    for (const std::string& log : logs) {
        std::ifstream stream(log, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        if (is_log(bytes))
            read_calls(bytes, part, sums);
        else
            part.add_loss("unread_file", 1, log.substr(log.rfind('/') + 1));
        if (Status flushed = part.flush(); !flushed) return flushed;
    }
    add_facts(part, sums);
    if (Status closed = part.close(); !closed) return closed;
    for (const std::string& log : logs) unlink(log.c_str());
    return {};
}

}  // namespace gpuprof
