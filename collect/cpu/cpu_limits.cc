#include "collect/cpu/cpu_limits.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace gpuprof::inline cpu {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;  // a mountinfo with thousands of mounts

std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text;
    char block[4096];
    while (text.size() < kMaxBytes && (stream.read(block, sizeof block), stream.gcount() > 0))
        text.append(block, static_cast<std::size_t>(stream.gcount()));
    return text;
}

std::string_view next(std::string_view& text, char separator) {
    std::size_t end = std::min(text.find(separator), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Whether `word` is one of a list such as "cpu,cpuacct".
bool lists(std::string_view list, std::string_view word) {
    while (!list.empty())
        if (next(list, ',') == word) return true;
    return false;
}

struct Mount {
    std::string_view root, point;
    bool version_2 = false;
};

// "36 35 98:0 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER_OPTIONS", if it has the controller cpu.
std::optional<Mount> cpu_mount(std::string_view line) {
    Mount mount;
    for (int i = 0; i < 3; ++i) next(line, ' ');
    mount.root = next(line, ' ');
    mount.point = next(line, ' ');
    std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return std::nullopt;
    line.remove_prefix(dash + 3);
    std::string_view type = next(line, ' ');
    next(line, ' ');
    mount.version_2 = type == "cgroup2";
    bool found = mount.version_2 || (type == "cgroup" && lists(line, "cpu"));
    return found ? std::optional(mount) : std::nullopt;
}

// The process's group in that hierarchy; absent if it is in none.
std::optional<std::string_view> group_of(std::string_view cgroup, bool version_2) {
    while (!cgroup.empty()) {
        std::string_view line = next(cgroup, '\n');
        std::string_view id = next(line, ':'), controllers = next(line, ':');
        if (version_2 ? id == "0" && controllers.empty() : lists(controllers, "cpu")) return line;
    }
    return std::nullopt;
}

}  // namespace

std::optional<QuotaPeriods> parse_cpu_stat(std::string_view text) {
    std::optional<std::int64_t> all, throttled;
    while (!text.empty()) {
        std::string_view line = next(text, '\n'), key = next(line, ' ');
        if (key == "nr_periods") all = number(line);
        if (key == "nr_throttled") throttled = number(line);
    }
    if (!all || !throttled) return std::nullopt;
    return QuotaPeriods{*all, *throttled};
}

// cpu  user nice system idle iowait irq softirq steal guest guest_nice: guest time is part of user time.
std::optional<CpuTicks> parse_cpu_ticks(std::string_view text) {
    constexpr int kFields = 8, kSteal = 7;
    std::string_view line = next(text, '\n');
    if (next(line, ' ') != "cpu") return std::nullopt;
    CpuTicks ticks;
    for (int field = 0; field < kFields; ++field) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        std::optional<std::int64_t> value = number(next(line, ' '));
        if (!value) return std::nullopt;
        ticks.all += *value;
        if (field == kSteal) ticks.stolen = *value;
    }
    return ticks;
}

std::vector<std::string> cpu_stat_files(std::string_view cgroup, std::string_view mountinfo) {
    std::vector<std::string> files;
    while (!mountinfo.empty()) {
        std::optional<Mount> mount = cpu_mount(next(mountinfo, '\n'));
        std::optional<std::string_view> group = mount ? group_of(cgroup, mount->version_2) : std::nullopt;
        if (!group) continue;
        std::string path(*group);
        if (path.find("/..") != std::string::npos) path.clear();  // not visible from here
        if (mount->root != "/" && path.starts_with(mount->root)) path.erase(0, mount->root.size());
        for (;;) {
            while (path.ends_with('/')) path.pop_back();
            files.push_back(std::string(mount->point) + path + "/cpu.stat");
            if (path.empty()) break;
            path.resize(std::min(path.rfind('/'), path.size() - 1));
        }
    }
    return files;
}

std::optional<QuotaPeriods> CpuLimits::read_group(const std::string& file) const {
    return parse_cpu_stat(content(root_ + file));
}

std::optional<CpuTicks> CpuLimits::read_ticks() const { return parse_cpu_ticks(content(proc_ + "/stat")); }

void CpuLimits::begin(pid_t command) {
    std::string of = proc_ + "/" + std::to_string(command) + "/";
    for (std::string& file : cpu_stat_files(content(of + "cgroup"), content(of + "mountinfo"))) {
        std::optional<QuotaPeriods> first = read_group(file);
        if (first) groups_.push_back({std::move(file), first, {}});
    }
    first_ = read_ticks();
}

void CpuLimits::end() {
    for (Group& group : groups_) group.last = read_group(group.file);
    last_ = read_ticks();
}

std::optional<QuotaPeriods> CpuLimits::quota() const {
    std::optional<QuotaPeriods> most;
    for (const Group& group : groups_) {
        if (!group.first || !group.last) continue;
        QuotaPeriods between{group.last->all - group.first->all, group.last->throttled - group.first->throttled};
        if (between.all <= 0 || between.throttled < 0) continue;  // no quota, or another group by the same name
        if (!most || between.throttled > most->throttled) most = between;
    }
    return most;
}

std::optional<CpuTicks> CpuLimits::ticks() const {
    if (!first_ || !last_) return std::nullopt;
    return CpuTicks{last_->all - first_->all, last_->stolen - first_->stolen};
}

}  // namespace gpuprof::cpu
