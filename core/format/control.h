// How a recording is triggered from outside (record --standby): the request, one line in a file that is only ever replaced by rename,
// and the report of each process about a window, a line in a file of its own.
//
//   gpuprof-control 1 ID NUMBER OPEN CLOSE STEPS RANKS     RANKS: * or a list such as 0,8-15
//   gpuprof-window 1 PID RANK NUMBER STATE OPEN OPENED CLOSED FIRST LAST PART REFUSED
//
// Times are CLOCK_REALTIME in ns. A request names no path and no command: all it can do is open a window for a limited time. A
// reader checks the file (regular, small, owned by this user or root, not writable by others), then every number. Nothing here
// allocates, throws or waits: the library inside recorded programs uses it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

namespace gpuprof::inline format::control {

inline constexpr std::size_t kMaxBytes = 256;
inline constexpr std::int64_t kSecondNs = 1'000'000'000;
inline constexpr std::int64_t kMaxWindowNs = 600 * kSecondNs;       // of one trigger
inline constexpr std::int64_t kMaxAheadNs = 24 * 3600 * kSecondNs;  // of the opening, after the request
inline constexpr std::int64_t kMaxSkewNs = 3600 * kSecondNs;        // of a clock that is ahead of the reader's
inline constexpr std::int64_t kMaxNumber = 9999, kMaxSteps = 1'000'000, kMaxRank = INT32_MAX;
inline constexpr const char* kFile = "control";

struct Ranks {
    std::int64_t first, last;
};

struct Request {
    std::int64_t id = 0;      // when it was written; a smaller one than the last is ignored
    std::int64_t number = 0;  // of the trigger; a later request with the same number changes its close
    std::int64_t open = 0, close = 0;
    std::int64_t steps = 0;  // whole steps common to all ranks; 0: by time alone
    std::array<Ranks, 32> ranks{};
    std::size_t rank_count = 0;  // 0: all

    bool asks(std::optional<std::int64_t> rank) const noexcept {
        for (std::size_t i = 0; i < rank_count; ++i)
            if (rank && *rank >= ranks[i].first && *rank <= ranks[i].last) return true;
        return rank_count == 0;
    }
};

// Takes the words of a line one by one.
class Words {
public:
    explicit Words(std::string_view line) noexcept : rest_(line) {}
    std::string_view next() noexcept {
        std::size_t end = rest_.find(' ');
        std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
        return word;
    }
    // Digits only, up to `most`; otherwise the line is bad.
    std::int64_t number(std::int64_t most) noexcept { return number_of(next(), most); }
    std::int64_t number_of(std::string_view word, std::int64_t most) noexcept {
        std::int64_t value = 0;
        bool digits = !word.empty() && word[0] >= '0' && word[0] <= '9';
        auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        good_ = good_ && digits && error == std::errc() && end == word.data() + word.size() && value <= most;
        return good_ ? value : 0;
    }
    // The same, or "-" for what is unknown.
    std::optional<std::int64_t> number_or_dash(std::int64_t most) noexcept {
        std::string_view word = next();
        return word == "-" ? std::nullopt : std::optional(number_of(word, most));
    }
    void expect(std::string_view word) noexcept { good_ = next() == word && good_; }
    void require(bool condition) noexcept { good_ = condition && good_; }
    bool good() const noexcept { return good_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool good_ = true;
};

// "*", or numbers and ranges of numbers separated by commas.
inline bool parse_ranks(std::string_view text, Request& to) noexcept {
    to.rank_count = 0;
    if (text == "*") return true;
    Words check("");
    while (true) {
        std::size_t end = text.find(',');
        std::string_view item = text.substr(0, end);
        std::size_t dash = item.find('-');
        Ranks ranks{check.number_of(item.substr(0, dash), kMaxRank), 0};
        ranks.last = dash == item.npos ? ranks.first : check.number_of(item.substr(dash + 1), kMaxRank);
        check.require(ranks.first <= ranks.last && to.rank_count < to.ranks.size());
        if (!check.good()) return false;
        to.ranks[to.rank_count++] = ranks;
        if (end == text.npos) return true;
        text.remove_prefix(end + 1);
    }
}

// Absent unless the bytes are exactly one whole request whose numbers are possible.
inline std::optional<Request> parse_request(std::string_view bytes) noexcept {
    if (bytes.size() > kMaxBytes || bytes.empty() || bytes.back() != '\n') return std::nullopt;
    Words words(bytes.substr(0, bytes.size() - 1));
    Request request;
    words.expect("gpuprof-control");
    words.expect("1");
    request.id = words.number(INT64_MAX);
    request.number = words.number(kMaxNumber);
    request.open = words.number(INT64_MAX);
    request.close = words.number(INT64_MAX);
    request.steps = words.number(kMaxSteps);
    words.require(parse_ranks(words.next(), request));
    words.require(request.number > 0 && request.close >= request.open && request.close - request.open <= kMaxWindowNs);
    words.require(request.open <= request.id || request.open - request.id <= kMaxAheadNs);
    return words.good() ? std::optional(request) : std::nullopt;
}

// Returns the length, 0 if it does not fit.
inline std::size_t write_request(const Request& request, char (&to)[kMaxBytes]) noexcept {
    int size = std::snprintf(
        to, sizeof to, "gpuprof-control 1 %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s", request.id,
        request.number, request.open, request.close, request.steps, request.rank_count == 0 ? "*" : "");
    std::size_t length = static_cast<std::size_t>(size);
    for (std::size_t i = 0; i < request.rank_count && length < sizeof to; ++i)
        length +=
            static_cast<std::size_t>(std::snprintf(to + length, sizeof to - length, "%s%" PRId64 "-%" PRId64,
                                                   i == 0 ? "" : ",", request.ranks[i].first, request.ranks[i].last));
    if (length + 1 >= sizeof to) return 0;
    to[length++] = '\n';
    return length;
}

enum class Found { nothing, refused, request };

// What is in the control file at `path` now. `identity` is a hash of the file that was read, so that one refused file counts once.
inline Found read_request(const char* path, std::int64_t now, Request& request, std::uint64_t& identity) noexcept {
    // A FIFO would hang without O_NONBLOCK, and a link could lead anywhere.
    int file = ::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat about {};
    if (file < 0) {
        if (::lstat(path, &about) != 0) return Found::nothing;
        identity = std::uint64_t{about.st_ino};
        return Found::refused;
    }
    char bytes[kMaxBytes + 1];
    bool trusted = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & 022) == 0 &&
                   (about.st_uid == ::geteuid() || about.st_uid == 0) && about.st_size <= static_cast<off_t>(kMaxBytes);
    ssize_t size = trusted ? ::read(file, bytes, sizeof bytes) : -1;
    ::close(file);
    identity = std::uint64_t{about.st_ino} * 1'000'003 + static_cast<std::uint64_t>(about.st_mtim.tv_nsec) +
               static_cast<std::uint64_t>(about.st_mtim.tv_sec) * 31;
    std::optional<Request> parsed = size < 0 ? std::nullopt : parse_request({bytes, static_cast<std::size_t>(size)});
    // An id in the future would make all later requests look old.
    if (!parsed || parsed->id > now + kMaxSkewNs) return Found::refused;
    request = *parsed;
    return Found::request;
}

enum class WindowState { standby, waiting, open, done, late };  // late: the window was over before it could open
inline constexpr const char* kStateNames[] = {"standby", "waiting", "open", "recorded", "missed"};
inline constexpr const char* kReportSuffix = ".window";  // FOLDER/PID-NUMBER.window; number 0: of the process itself

struct Report {
    std::int64_t pid = 0;
    std::optional<std::int64_t> rank;
    std::int64_t number = 0;  // of the trigger; 0: none yet
    WindowState state = WindowState::standby;
    std::int64_t open = 0, opened = 0, closed = 0;  // asked, and as it was; 0: not yet
    std::int64_t first_step = 0,
                 last_step = 0;  // whole steps in the window, counted from the start of the process; 0: none
    std::int64_t part = 0;       // time in the name of the process's part (SpoolFile)
    std::int64_t refused = 0;    // control files refused so far
};

inline std::size_t write_report(const Report& report, char (&to)[kMaxBytes]) noexcept {
    char rank[24] = "-";
    if (report.rank) std::snprintf(rank, sizeof rank, "%" PRId64, *report.rank);
    int size =
        std::snprintf(to, sizeof to,
                      "gpuprof-window 1 %" PRId64 " %s %" PRId64 " %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                      " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                      report.pid, rank, report.number, static_cast<int>(report.state), report.open, report.opened,
                      report.closed, report.first_step, report.last_step, report.part, report.refused);
    return size > 0 && static_cast<std::size_t>(size) < sizeof to ? static_cast<std::size_t>(size) : 0;
}

inline std::optional<Report> parse_report(std::string_view bytes) noexcept {
    if (bytes.size() > kMaxBytes || bytes.empty() || bytes.back() != '\n') return std::nullopt;
    Words words(bytes.substr(0, bytes.size() - 1));
    Report report;
    words.expect("gpuprof-window");
    words.expect("1");
    report.pid = words.number(INT32_MAX);
    report.rank = words.number_or_dash(kMaxRank);
    report.number = words.number(kMaxNumber);
    report.state = static_cast<WindowState>(words.number(static_cast<std::int64_t>(WindowState::late)));
    for (std::int64_t* each : {&report.open, &report.opened, &report.closed, &report.first_step, &report.last_step,
                               &report.part, &report.refused})
        *each = words.number(INT64_MAX);
    return words.good() ? std::optional(report) : std::nullopt;
}

}  // namespace gpuprof::format::control
