#include "collect/cpu/proc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/base/clock.h"
#include "core/base/text/command_line.h"

namespace gpuprof::inline cpu {
namespace {

// The fields after the name, by their numbers in proc(5): 3 is the state.
constexpr int kState = 3, kParent = 4, kUser = 14, kSystem = 15, kStart = 22, kResident = 24;

template <class Number>
bool read_number(std::string_view text, Number& into) {
    return std::from_chars(text.data(), text.data() + text.size(), into).ec == std::errc{};
}

}  // namespace

std::optional<ProcStat> parse_stat(std::string_view text) {
    std::size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    ProcStat stat;
    stat.name = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    int field = kState;
    for (; field <= kResident; ++field) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        std::string_view word = text.substr(0, text.find_first_of(" \n"));
        if (word.empty()) break;
        text.remove_prefix(word.size());
        bool sound = true;
        switch (field) {
            case kState: stat.state = word[0]; break;
            case kParent: sound = read_number(word, stat.parent); break;
            case kUser: sound = read_number(word, stat.user_ticks); break;
            case kSystem: sound = read_number(word, stat.system_ticks); break;
            case kStart: sound = read_number(word, stat.start_ticks); break;
            case kResident: sound = read_number(word, stat.resident_pages); break;
            default: break;
        }
        if (!sound) return std::nullopt;
    }
    return field > kResident ? std::optional<ProcStat>(stat) : std::nullopt;
}

std::optional<SchedStat> parse_schedstat(std::string_view text) {
    std::int64_t fields[3] = {};  // run, ready, number of runs
    for (std::int64_t& field : fields) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        std::string_view word = text.substr(0, text.find_first_of(" \n"));
        if (!read_number(word, field)) return std::nullopt;
        text.remove_prefix(word.size());
    }
    return fields[2] > 0 && fields[0] >= 0 && fields[1] >= 0
               ? std::optional<SchedStat>({.run = fields[0], .ready = fields[1]})
               : std::nullopt;
}

std::optional<std::string_view> ProcFiles::read_path(const char* path, std::size_t limit) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    if (buffer_.size() < limit) buffer_.resize(limit);
    std::size_t size = 0;
    for (;;) {
        ssize_t got = ::read(file, buffer_.data() + size, limit - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) size = 0;
        if (got <= 0) break;
        size += static_cast<std::size_t>(got);
        if (size == limit || limit <= 4096) break;  // short files arrive whole
    }
    close(file);
    return size > 0 ? std::optional<std::string_view>({buffer_.data(), size}) : std::nullopt;
}

std::optional<std::string_view> ProcFiles::read(pid_t pid, std::string_view name, std::size_t limit) {
    path_ = root_;
    path_.append("/").append(std::to_string(pid)).append("/").append(name);
    return read_path(path_.c_str(), limit);
}

std::optional<ProcStat> ProcFiles::stat(pid_t pid) {
    std::optional<std::string_view> text = read(pid, "stat", 1024);
    return text ? parse_stat(*text) : std::nullopt;
}

std::optional<ProcStat> ProcFiles::stat(pid_t pid, pid_t thread) {
    std::optional<std::string_view> text = read_of_thread(pid, thread, "stat");
    return text ? parse_stat(*text) : std::nullopt;
}

std::optional<SchedStat> ProcFiles::schedstat(pid_t pid, pid_t thread) {
    std::optional<std::string_view> text = read_of_thread(pid, thread, "schedstat");
    return text ? parse_schedstat(*text) : std::nullopt;
}

std::optional<std::string_view> ProcFiles::read_of_thread(pid_t pid, pid_t thread, std::string_view name) {
    path_ = root_;
    path_.append("/")
        .append(std::to_string(pid))
        .append("/task/")
        .append(std::to_string(thread))
        .append("/")
        .append(name);
    return read_path(path_.c_str(), 1024);
}

void ProcFiles::list(const char* path, std::vector<pid_t>& into) {
    into.clear();
    DIR* folder = opendir(path);
    if (folder == nullptr) return;
    while (const dirent* entry = readdir(folder)) {
        pid_t id = 0;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_number(entry->d_name, id)) into.push_back(id);
    }
    closedir(folder);
}

void ProcFiles::list_processes(std::vector<pid_t>& into) { list(root_.c_str(), into); }

void ProcFiles::list_threads(pid_t pid, std::vector<pid_t>& into) {
    path_ = root_;
    path_.append("/").append(std::to_string(pid)).append("/task");
    list(path_.c_str(), into);
}

std::string ProcFiles::program(pid_t pid) {
    path_ = root_;
    path_.append("/").append(std::to_string(pid)).append("/exe");
    std::array<char, PATH_MAX> target{};
    ssize_t size = readlink(path_.c_str(), target.data(), target.size());
    return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string ProcFiles::command(pid_t pid) {
    constexpr std::size_t kMaxCommandBytes = 16 * 1024;  // as in the injected library
    std::optional<std::string_view> raw = read(pid, "cmdline", kMaxCommandBytes);
    if (!raw) return {};
    std::string text(kMaxCommandBytes, '\0');
    text.resize(write_command(*raw, text.data(), text.size()));
    return text;
}

std::int64_t ns_per_tick() {
    long ticks = sysconf(_SC_CLK_TCK);
    return 1'000'000'000 / (ticks > 0 ? ticks : 100);
}

std::int64_t machine_start_ns() { return realtime_ns() - clock_ns(CLOCK_BOOTTIME); }

}  // namespace gpuprof::cpu
