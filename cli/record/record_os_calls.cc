#include "cli/record/record_os_calls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "cli/output.h"
#include "cli/record/recording_parts.h"
#include "collect/launch/injection.h"
#include "collect/os_calls/log_reader.h"
#include "core/base/files/path_search.h"
#include "core/base/host_name.h"
#include "core/base/whole_file.h"
#include "core/format/capture_part.h"
#include "core/schema/meta_keys.h"
#include "core/schema/os_call_meta_keys.h"

namespace gpuprof::inline cli {
namespace {

using os_calls::kFunctionNames;
using os_calls::kFunctions;

constexpr std::uint64_t kMaxLogBytes = std::uint64_t{64} << 20;  // thirty times the largest
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

std::string bytes_of(const std::string& file) {
    Result<std::string> bytes = read_whole_file(file, kMaxLogBytes);
    return bytes.ok() ? std::move(*bytes) : std::string();
}

std::string share_of(const std::string& folder) { return folder + "/" + meta_key::kOsCallShare; }

// What was counted without a log.
void read_share(const std::string& bytes, CapturePart& part, Sums& sums) {
    auto number = [&](std::size_t offset) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    };
    using os_calls::SharedCounts;
    if (bytes.size() != os_calls::kSharedBytes || number(offsetof(SharedCounts, magic)) != os_calls::kLogMagic ||
        number(offsetof(SharedCounts, build)) != os_calls::build_of_log())
        return part.add_loss("unread_file", 1, meta_key::kOsCallShare);
    sums.least_ns = std::max(sums.least_ns, number(offsetof(SharedCounts, least_ns)));
    sums.dropped += number(offsetof(SharedCounts, dropped));
    if (number(offsetof(SharedCounts, programs)) == 0)
        part.add_loss("recorder_loss", 1,
                      "calls of the operating system: no program could be watched; it is statically linked, or may not "
                      "read the folder");
    if (std::uint64_t refused = number(offsetof(SharedCounts, refused)); refused > 0) {
        auto error = static_cast<int>(number(offsetof(SharedCounts, error)) & 0xFFF);
        part.add_loss("recorder_loss", static_cast<std::int64_t>(std::min<std::uint64_t>(refused, INT64_MAX)),
                      fmt::format("processes without a log of calls of the operating system: {}",
                                  error == 0 ? "seccomp does not allow one" : std::strerror(error)));
    }
}

void add_facts(CapturePart& part, const Sums& sums) {
    part.add_fact(meta_key::kOsCallsLeastNs, std::to_string(sums.least_ns));
    for (std::size_t i = 0; i < kFunctions; ++i)
        if (const Sums::Short& calls = sums.short_calls[i]; calls.count > 0)
            part.add_fact(fmt::format("{}{}", meta_key::kShortOsCalls, kFunctionNames[i]),
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

Result<OsCallShare> OsCallShare::make(const std::string& folder, std::int64_t least_ns) {
    alignas(os_calls::SharedCounts) std::array<char, os_calls::kSharedBytes> page{};
    auto* counts = new (page.data()) os_calls::SharedCounts{};
    counts->magic = os_calls::kLogMagic;
    counts->build = os_calls::build_of_log();
    counts->least_ns = static_cast<std::uint64_t>(least_ns);
    std::string path = share_of(folder);
    int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = file >= 0 && ::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
    // Out of the way of what a program opens, or expects to be free.
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    int inherited =
        written ? ::fcntl(file, F_DUPFD, static_cast<int>(std::min<rlim_t>(descriptors.rlim_cur / 2, 700))) : -1;
    int problem = errno;
    if (file >= 0) ::close(file);
    if (inherited >= 0) return OsCallShare(inherited);
    return Error{ExitCode::internal, fmt::format("cannot write {}: {}", path, std::strerror(problem))};
}

OsCallShare::~OsCallShare() {
    if (file_ >= 0) ::close(file_);
}

void OsCallShare::describe_to(RecorderSettings& settings) const {
    struct stat about {};
    if (::fstat(file_, &about) != 0) return;
    settings.os_calls_share = file_;
    settings.os_calls_device = static_cast<std::int64_t>(about.st_dev);
    settings.os_calls_inode = static_cast<std::int64_t>(about.st_ino);
}

Status write_os_calls(const std::string& folder) {
    std::vector<std::string> logs = files_in(folder, meta_key::kOsCallLogSuffix);
    std::string share = share_of(folder);
    bool shared = ::access(share.c_str(), F_OK) == 0;
    if (logs.empty() && !shared) return {};
    Result<std::unique_ptr<CapturePart>> opened =
        CapturePart::open(companion_part(folder, "os_calls"), meta_key::kRecorderTool, CapturePart::Publish::at_close);
    if (!opened.ok()) return opened.error();
    CapturePart& part = **opened;
    Sums sums;
    for (const std::string& log : logs) {
        std::string bytes = bytes_of(log);
        if (os_calls::LogReader reader(bytes); reader.valid())
            read_calls(reader, part, sums);
        else
            part.add_loss("unread_file", 1, log.substr(log.rfind('/') + 1));
        if (Status flushed = part.flush(); !flushed) return flushed;
    }
    if (shared) read_share(bytes_of(share), part, sums);
    add_facts(part, sums);
    if (Status closed = part.close(); !closed) return closed;
    unlink(share.c_str());
    for (const std::string& log : logs) unlink(log.c_str());
    return {};
}

}  // namespace gpuprof::cli
