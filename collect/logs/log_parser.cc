#include "collect/logs/log_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "core/base/ids.h"
#include "core/schema/debug_env.h"

namespace gpuprof::logs {
namespace {

constexpr std::size_t kMaxText = 1000;     // bytes of one entry; the rest is skipped
constexpr std::int64_t kMaxTid = 1 << 22;  // PID_MAX_LIMIT of Linux; larger numbers are pthread_self()

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::string_view trimmed(std::string_view text) {
    std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view name) {
    std::size_t at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + name.size());
    return take_number(text);
}

std::optional<std::int64_t> thread_id(std::optional<std::int64_t> number) {
    return number && *number > 0 && *number <= kMaxTid ? number : std::nullopt;
}

// ".727680" in ns.
std::int64_t fraction_ns(std::string_view text) {
    if (!take(text, ".")) return 0;
    std::int64_t ns = 0, unit = kSecond / 10;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9' && unit > 0; text.remove_prefix(1), unit /= 10)
        ns += (text[0] - '0') * unit;
    return ns;
}

// Libraries write local time, some of them UTC: the one inside the window is meant.
std::optional<TimeNs> time_of(std::tm parts, std::int64_t ns, const LogWindow& window) {
    std::tm local = parts, universal = parts;
    local.tm_isdst = -1;
    for (std::time_t seconds : {std::mktime(&local), timegm(&universal)}) {
        if (seconds < 0 || seconds > window.to / kSecond + 1) continue;
        TimeNs time = TimeNs{seconds} * kSecond + ns;
        if (time / kSecond >= window.from / kSecond) return time;
    }
    return std::nullopt;
}

// "2024-01-21T14:14:21.366171" or "2024-01-21 14:14:21".
std::optional<TimeNs> date_time(std::string_view text, const LogWindow& window) {
    std::tm parts{};
    std::string copy(text.substr(0, 40));
    char between = 0;
    int read = 0;
    if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%c%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &between,
                    &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read) != 7)
        return std::nullopt;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return time_of(parts, fraction_ns(std::string_view(copy).substr(static_cast<std::size_t>(read))), window);
}

// "[...]" at the start.
std::optional<std::string_view> take_bracket(std::string_view& text) {
    std::size_t end = text.find(']');
    if (text.empty() || text[0] != '[' || end == std::string_view::npos) return std::nullopt;
    std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inside;
}

// "[1779862607.123456]" (seconds since 1970, as --debug-env asks for) or the default format.
std::optional<TimeNs> nccl_time(std::string_view text, const LogWindow& window) {
    if (text.find('-') != std::string_view::npos) return date_time(text, window);
    std::optional<std::int64_t> seconds = take_number(text);
    if (!seconds || *seconds < window.from / kSecond || *seconds > window.to / kSecond + 1) return std::nullopt;
    return *seconds * kSecond + fraction_ns(text);
}

LogLine nccl_line(std::string_view line, const LogWindow& window) {
    LogLine found{.time = {}, .pid = {}, .tid = {}, .level = debug_env::kInfo, .text = {}};
    std::string_view rest = line;
    if (std::optional<std::string_view> time = take_bracket(rest)) found.time = nccl_time(*time, window);
    std::size_t mark = rest.find("NCCL ");
    std::string_view head = rest.substr(0, mark), tail = mark == std::string_view::npos ? "" : rest.substr(mark + 5);
    std::size_t colon = head.find(':');
    if (mark == std::string_view::npos || colon == std::string_view::npos) {
        found.text = trimmed(rest);  // "NCCL version 2.30.3+cuda13.0"
        return found;
    }
    head.remove_prefix(colon + 1);
    found.pid = take_number(head);
    if (take(head, ":")) found.tid = thread_id(take_number(head));
    if (take(tail, "WARN "))
        found.level = debug_env::kWarning;
    else if (take(tail, "ERROR "))
        found.level = debug_env::kError;
    else
        take(tail, "INFO ");
    found.text = trimmed(tail);
    return found;
}

LogLine cublaslt_line(std::string_view line, const LogWindow& window) {
    LogLine found{.time = {}, .pid = {}, .tid = {}, .level = debug_env::kInfo, .text = {}};
    std::string_view rest = line;
    if (std::optional<std::string_view> time = take_bracket(rest)) found.time = date_time(*time, window);
    std::string_view from_library = rest;
    if (take_bracket(rest) != "cublasLt") {
        found.text = trimmed(line);
        return found;
    }
    if (std::optional<std::string_view> pid = take_bracket(rest)) found.pid = take_number(*pid);
    std::string_view level = rest;
    std::optional<std::string_view> word = take_bracket(level);
    if (word == "Error") found.level = debug_env::kError;
    if (word == "Hint" || word == "Hints") found.level = debug_env::kWarning;
    found.text = trimmed(found.pid ? rest : from_library);
    return found;
}

void add_text(std::string& to, std::string_view text) {
    if (text.empty() || to.size() >= kMaxText) return;
    if (!to.empty()) to += "; ";
    to += text;
}

// What an entry says beyond the name of the call: reasons, and the algorithm.
bool worth_keeping(std::string_view detail) {
    for (std::string_view word : {"Reason", "Warning", "Error", "algo", "ngine", "tatus", "fallback", "retry"})
        if (detail.find(word) != std::string_view::npos) return true;
    return false;
}

}  // namespace

std::string_view name_of(Library library) {
    constexpr std::array<std::string_view, 5> kNames = {"cudnn", "cublas", "cublas", "nccl", "torch"};
    return kNames[static_cast<std::size_t>(library)];
}

std::optional<LogLine> LogParser::begin(LogLine next) {
    std::optional<LogLine> done = finish();
    open_ = std::move(next);
    return done;
}

std::optional<LogLine> LogParser::finish() {
    std::optional<LogLine> done;
    if (open_ && !open_->text.empty()) done = std::move(open_);
    open_.reset();
    if (done && done->text.size() > kMaxText) done->text.resize(kMaxText);
    return done;
}

std::optional<LogLine> LogParser::feed(std::string_view line) {
    if (trimmed(line).empty()) return std::nullopt;
    switch (library_) {
        case Library::cudnn:
        case Library::cublas: return feed_block(line);
        case Library::cublaslt: return begin(cublaslt_line(line, window_));
        case Library::nccl: return begin(nccl_line(line, window_));
        case Library::torch: return feed_torch(line);
    }
    return std::nullopt;
}

std::optional<LogLine> LogParser::feed_block(std::string_view line) {
    char mark = line.size() > 1 && line[1] == '!' ? line[0] : ' ';
    std::string_view text = trimmed(mark == ' ' ? line : line.substr(2));
    bool starts = mark == 'I' || mark == 'W' || mark == 'E' || (mark == ' ' && text.starts_with("cuDNN (v"));
    if (starts || !open_) {
        LogLine next{.time = {}, .pid = {}, .tid = {}, .level = debug_env::kInfo, .text = std::string(text)};
        if (mark == 'W' || mark == 'w') next.level = debug_env::kWarning;
        if (mark == 'E' || mark == 'e') next.level = debug_env::kError;
        return begin(std::move(next));
    }
    std::string_view detail = text;
    if (take(detail, "Time: ")) {
        open_->time = date_time(detail, window_);
    } else if (detail.starts_with("Process")) {
        open_->pid = number_after(detail, detail.starts_with("Process=") ? "Process=" : "Process: ");
        open_->tid = thread_id(number_after(detail, detail.find("Thread=") != detail.npos ? "Thread=" : "Thread: "));
    } else if (worth_keeping(detail)) {
        if (detail.starts_with("Warning:") && open_->level == debug_env::kInfo) open_->level = debug_env::kWarning;
        if (detail.starts_with("Error:")) open_->level = debug_env::kError;
        add_text(open_->text, detail);
    }
    return std::nullopt;
}

std::optional<LogLine> LogParser::feed_torch(std::string_view line) {
    std::string copy(line.substr(0, 64));
    char level = 0;
    std::tm parts{};
    int read = 0;
    bool starts = std::sscanf(copy.c_str(), "%c%2d%2d %2d:%2d:%2d%n", &level, &parts.tm_mon, &parts.tm_mday,
                              &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read) == 6 &&
                  std::string_view("VDIWEC").find(level) != std::string_view::npos;
    if (!starts) {  // the next line of a stack or a graph
        if (open_) {
            add_text(open_->text, trimmed(line));
            return std::nullopt;
        }
        return begin({.time = {}, .pid = {}, .tid = {}, .level = debug_env::kInfo, .text = std::string(trimmed(line))});
    }
    std::time_t now = window_.to / kSecond;
    std::tm today{};
    localtime_r(&now, &today);
    parts.tm_year = today.tm_year;
    parts.tm_mon -= 1;
    LogLine next{.time = {}, .pid = {}, .tid = {}, .level = debug_env::kInfo, .text = {}};
    std::string_view rest = line.substr(static_cast<std::size_t>(read));
    next.time = time_of(parts, fraction_ns(rest), window_);
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    rest = trimmed(rest);
    next.pid = thread_id(take_number(rest));
    if (level == 'W') next.level = debug_env::kWarning;
    if (level == 'E' || level == 'C') next.level = debug_env::kError;
    next.text = trimmed(rest);
    return begin(std::move(next));
}

}  // namespace gpuprof::logs
