#include "cli/serve/containers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "cli/serve/prometheus.h"
#include "collect/cpu/proc_files.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMostFileBytes = 16 * 1024;
constexpr std::size_t kMostEntries = 8192, kMostContainersOfPod = 256;
constexpr std::size_t kMostProcesses = 4096, kMostShown = 256;  // of one device
constexpr DurNs kReadAgain = 10 * kSecond;

bool hexadecimal(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }

std::string_view next(std::string_view& text, std::string_view separators) {
    std::size_t end = std::min(text.find_first_of(separators), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// "pod1234abcd-...", "kubepods-burstable-pod1234abcd_....slice": the UID with dashes, or "". Those of static pods have none.
std::string pod_uid_in(std::string_view segment) {
    constexpr std::string_view kSlice = ".slice", kPod = "pod";
    constexpr std::size_t kDigits = 32, kWithDashes = 36;
    if (segment.ends_with(kSlice)) segment.remove_suffix(kSlice.size());
    std::size_t at = segment.rfind(kPod);
    if (at == segment.npos || (at > 0 && segment[at - 1] != '-')) return "";
    std::string uid(segment.substr(at + kPod.size()));
    std::replace(uid.begin(), uid.end(), '_', '-');
    std::string digits = uid;
    std::erase(digits, '-');
    bool dashes = uid.size() == kWithDashes && uid[8] == '-' && uid[13] == '-' && uid[18] == '-' && uid[23] == '-';
    return digits.size() == kDigits && hexadecimal(digits) && (dashes || uid.size() == kDigits) ? uid : "";
}

// "ID", "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "libpod-ID.scope": the 64 digits, or "".
std::string container_id_in(std::string_view segment) {
    constexpr std::string_view kScope = ".scope";
    constexpr std::size_t kDigits = 64;
    if (segment.ends_with(kScope)) segment.remove_suffix(kScope.size());
    if (segment.size() < kDigits) return "";
    std::string_view id = segment.substr(segment.size() - kDigits),
                     before = segment.substr(0, segment.size() - kDigits);
    return hexadecimal(id) && (before.empty() || before.ends_with('-')) ? std::string(id) : "";
}

// The outermost pod, and the container right below it; without a pod, the outermost container. The owner of a group may name those
// below it at will, so groups below a container, a user's slice or a virtual machine say nothing.
Place place_in(std::string_view path, bool whole) {
    Place place;
    if (!whole && !path.starts_with("/..")) return {.known = Place::Known::hidden};  // the reader's own group
    constexpr std::string_view kDeleted = " (deleted)";  // the kernel's word for a group without a folder
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    bool named = whole;
    while (!path.empty()) {
        std::string_view segment = next(path, "/:");  // containerd also joins both by colons
        if (segment.empty() || segment == "..") continue;
        named = true;
        constexpr std::string_view kOwned[] = {"user.slice", "user-", "user@", "lxc", "machine-"};
        if (std::any_of(std::begin(kOwned), std::end(kOwned), [&](auto own) { return segment.starts_with(own); }))
            break;
        if (place.pod_uid.empty()) place.pod_uid = pod_uid_in(segment);
        place.container_id = container_id_in(segment);
        if (!place.container_id.empty()) break;
    }
    if (!named) place.known = Place::Known::hidden;
    return place;
}

// Calls take(name) for the entries of a folder; false if there are more than `most`.
template <class Take>
bool each_entry(const std::string& folder, std::size_t most, bool follow, bool folders, Take&& take) {
    int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
    DIR* open = file < 0 ? nullptr : fdopendir(file);
    if (open == nullptr && file >= 0) close(file);
    if (open == nullptr) return true;
    bool all = true;
    for (const dirent* entry = readdir(open); entry != nullptr && all; entry = readdir(open)) {
        std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (most-- == 0)
            all = false;
        else if (!folders || entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
            take(name);
    }
    closedir(open);
    return all;
}

struct Sum {
    double memory = 0, utilisation = 0;
    std::size_t processes = 0, with_memory = 0, with_utilisation = 0;

    void add(const Sum& other) {
        memory += other.memory;
        utilisation += other.utilisation;
        processes += other.processes;
        with_memory += other.with_memory;
        with_utilisation += other.with_utilisation;
    }
};

// The largest have lines of their own.
std::vector<std::pair<std::string, Sum>> largest_sums(const std::map<std::string, Sum>& sums) {
    std::vector<std::pair<std::string, Sum>> list(sums.begin(), sums.end());
    if (list.size() <= kMostShown) return list;
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second.memory > b.second.memory; });
    for (std::size_t i = kMostShown; i < list.size(); ++i) list[kMostShown - 1].second.add(list[i].second);
    list.resize(kMostShown);
    list.back().first = ",container=\"(other)\"";
    return list;
}

}  // namespace

bool possible_name(std::string_view name) {
    constexpr std::size_t kLongest = 253;
    return !name.empty() && name.size() <= kLongest &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == name.npos;
}

Place place_of(std::string_view cgroup, bool whole) {
    std::optional<Place> found;
    while (!cgroup.empty()) {
        std::string_view line = next(cgroup, "\n");
        next(line, ":");
        next(line, ":");
        Place place = place_in(line, whole);
        bool named = !place.pod_uid.empty() || !place.container_id.empty();
        bool before = found && (!found->pod_uid.empty() || !found->container_id.empty());
        if (named && before && place != *found) return {.known = Place::Known::ambiguous};
        if (!found || (named && !before) || (!before && place.known == Place::Known::yes)) found = place;
    }
    return found.value_or(Place{.known = Place::Known::hidden});
}

OwnPod own_pod(std::string_view mountinfo, std::string_view space, std::string_view pod) {
    OwnPod own;
    while (!mountinfo.empty()) {
        std::string_view line = next(mountinfo, "\n");
        for (int field = 0; field < 3; ++field) next(line, " ");
        std::string_view root = next(line, " "), point = next(line, " ");
        constexpr std::string_view kPods = "/pods/";
        std::size_t at = root.rfind(kPods);
        if (at == root.npos || (point != "/etc/hosts" && point != "/dev/termination-log")) continue;
        root.remove_prefix(at + kPods.size());
        std::string uid = pod_uid_in("pod" + std::string(next(root, "/")));
        std::string_view what = next(root, "/"), name = next(root, "/");
        if (uid.empty() || (!own.pod_uid.empty() && own.pod_uid != uid)) continue;
        if (point == "/etc/hosts" ? what != "etc-hosts" : what != "containers" || !possible_name(name)) continue;
        own.pod_uid = uid;
        if (what == "containers") own.name.container = name;
    }
    if (own.pod_uid.empty()) return {};
    if (possible_name(space)) own.name.space = space;
    if (possible_name(pod)) own.name.pod = pod;
    return own;
}

void PodNames::look(const std::vector<Place>& places, TimeNs now) {
    bool missing = std::any_of(places.begin(), places.end(), [this](const Place& place) {
        return find(place).pod.empty() || (!place.container_id.empty() && find(place).container.empty());
    });
    if (!missing || (read_at_ != 0 && now - read_at_ < kReadAgain)) return;
    read_at_ = now;
    read(places);
}

// Only the names that are needed are kept, so a folder with any number of entries costs no memory.
void PodNames::read(const std::vector<Place>& places) {
    std::set<std::string, std::less<>> uids, ids;
    for (const Place& place : places) {
        uids.insert(place.pod_uid);
        ids.insert(place.container_id);
    }
    pods_.clear();
    std::erase_if(containers_, [&ids](const auto& each) { return !ids.contains(each.first); });
    ignored_ = 0;
    std::map<std::string, std::string> folders;  // of pods, by UID
    bool all = each_entry(logs_ + "/pods", kMostEntries, true, true, [&](std::string_view name) {
        std::size_t first = name.find('_'), last = name.rfind('_');
        std::string_view uid = last == name.npos ? "" : name.substr(last + 1);
        if (first == last || !possible_name(name.substr(0, first)) ||
            !possible_name(name.substr(first + 1, last - first - 1)) || pod_uid_in("pod" + std::string(uid)).empty()) {
            ++ignored_;
        } else if (uids.contains(uid)) {
            pods_[std::string(uid)] = {std::string(name.substr(0, first)),
                                       std::string(name.substr(first + 1, last - first - 1))};
            folders[std::string(uid)] = name;
        }
    });
    // The folder of a container is made before it starts. While a pod has one folder, the container that runs has its name;
    // another may be added later.
    for (const Place& place : places) {
        auto folder = folders.find(place.pod_uid);
        if (folder == folders.end() || place.container_id.empty()) continue;
        std::set<std::string> names;
        all &= each_entry(logs_ + "/pods/" + folder->second, kMostContainersOfPod, false, true,
                          [&](std::string_view name) { names.emplace(name); });
        if (names.size() != 1 || !possible_name(*names.begin())) continue;
        PodName name = pods_[place.pod_uid];
        name.container = *names.begin();
        containers_.try_emplace(place.container_id, std::move(name));
    }
    all &= each_entry(logs_ + "/containers", kMostEntries, true, false, [&](std::string_view name) {
        constexpr std::string_view kLog = ".log";
        std::string_view pod = next(name, "_"), space = next(name, "_"), container = name;
        if (container.ends_with(kLog)) container.remove_suffix(kLog.size());
        std::string id = container_id_in(container);
        container = container.substr(0, container.size() - std::min(container.size(), id.size() + 1));
        if (id.empty() || !possible_name(pod) || !possible_name(space) || !possible_name(container)) {
            ++ignored_;
        } else if (ids.contains(id)) {
            containers_[id] = {std::string(space), std::string(pod), std::string(container)};
        }
    });
    too_many_ = !all;
}

PodName PodNames::find(const Place& place) const {
    auto by_id = containers_.find(place.container_id);
    auto by_uid = pods_.find(place.pod_uid);
    if (by_uid == pods_.end()) return by_id == containers_.end() ? PodName{} : by_id->second;
    PodName name = by_uid->second;
    if (by_id != containers_.end() && by_id->second.space == name.space && by_id->second.pod == name.pod)
        name.container = by_id->second.container;
    return name;
}

std::vector<DeviceProcesses> newest_processes(const LiveState& state, TimeNs now) {
    std::vector<DeviceProcesses> devices;
    for (const LiveDevice& device : state.devices()) {
        DeviceProcesses of{device.known, state.processes(device, now)};
        TimeNs newest = device.last - 2 * std::max(state.interval(), kSecond);  // older ones have ended since
        for (const ProcessReading& process : of.processes) newest = std::max(newest, process.time);
        std::erase_if(of.processes, [newest](const ProcessReading& process) { return process.time < newest; });
        devices.push_back(std::move(of));
    }
    return devices;
}

Containers::Containers(const std::string& root) : proc_(root + "/proc"), names_(root + "/var/log") {}

// kthreadd is process 2 of the host, and is in no other namespace.
Containers::View Containers::view() const {
    View view;
    cpu::ProcFiles files(proc_);
    std::optional<cpu::ProcStat> second = files.stat(2);
    view.host = second && second->name == "kthreadd" && second->parent == 0;
    auto link = [this](const char* name) {
        std::array<char, 64> target{};
        ssize_t size = readlink((proc_ + name).c_str(), target.data(), target.size());
        return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
    };
    constexpr std::string_view kAll =
        "cgroup:[4026531835]";  // PROC_CGROUP_INIT_INO; before Linux 4.6 there is no other
    std::string groups = link("/self/ns/cgroup");
    view.all_groups = groups.empty() || groups == kAll;
    // "NSpid: 4711", or with one more id for each namespace between.
    std::optional<std::string_view> status = files.read(std::atoi(link("/self").c_str()), "status", kMostFileBytes);
    std::size_t at = status ? status->find("\nNSpid:\t") : std::string_view::npos;
    if (at != std::string_view::npos) {
        std::string_view ids = status->substr(at + 8);
        view.same_ids = ids.substr(0, ids.find('\n')).find('\t') == ids.npos;
    }
    return view;
}

std::string Containers::problem() const {
    if (view().host) return "";
    return fmt::format(
        "{} is not that of the host; run serve in the host's PID namespace (hostPID: true in Kubernetes)", proc_);
}

Containers::Found Containers::find(const ProcessReading& process, const View& view, DurNs turn) const {
    // Newer drivers give ids of the reader's namespace, older ones those of the host. A reader in a namespace of its own does
    // not know which process is meant by an id that both have.
    std::string own = fmt::format("/proc/{}", process.driver_pid);
    if (!view.host || (!view.same_ids && access(own.c_str(), F_OK) == 0)) return {.unknown = "namespace"};
    cpu::ProcFiles files(proc_);
    auto pid = static_cast<pid_t>(process.driver_pid);
    std::optional<cpu::ProcStat> first = files.stat(pid);
    // The groups of an exited thread are those of the kernel; others of its process may still run.
    if (!first || first->state == 'Z' || first->state == 'X') return {.unknown = "gone"};
    std::int64_t ticks = first->start_ticks;
    TimeNs started = cpu::machine_start_ns() + ticks * cpu::ns_per_tick();
    if (started > process.time) return {.unknown = "reused"};
    std::optional<std::string_view> text = files.read(pid, "cgroup", kMostFileBytes);
    if (!text) return {.unknown = "gone"};
    if (text->size() == kMostFileBytes) return {.unknown = "ambiguous"};
    Found found{.place = place_of(*text, view.all_groups), .for_whole_turn = started <= process.time - turn};
    std::optional<cpu::ProcStat> again = files.stat(pid);
    if (!again || again->start_ticks != ticks) return {.unknown = "reused"};
    if (found.place.known == Place::Known::hidden) found.unknown = "hidden";
    if (found.place.known == Place::Known::ambiguous) found.unknown = "ambiguous";
    return found;
}

std::string Containers::labels(const Place& place, const PodName& name) {
    std::string text;
    auto add = [&text](std::string_view label, std::string_view value) {
        if (!value.empty()) text += fmt::format(",{}=\"{}\"", label, label_escaped(value));
    };
    add("namespace", name.space);
    add("pod", name.pod);
    add("pod_uid", place.pod_uid);
    add("container", name.container);
    if (name.container.empty()) add("container_id", place.container_id);
    return text;
}

std::string Containers::exposition(const std::vector<DeviceProcesses>& devices, DurNs interval,
                                   std::vector<Place> places) {
    const View seen = view();
    std::vector<std::map<Place, Sum>> sums(devices.size());
    std::vector<std::map<std::string_view, std::size_t>> without(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        std::size_t left = kMostProcesses;
        for (const ProcessReading& process : devices[i].processes) {
            Found found{.unknown = "limit"};
            if (left > 0) {
                --left;
                found = find(process, seen, std::max(interval, kSecond));
            }
            if (!found.unknown.empty()) {
                ++without[i][found.unknown];
                continue;
            }
            Sum sum{.memory = process.mem_used_mb.value_or(0) * kMib,
                    .utilisation = found.for_whole_turn ? process.util_gpu.value_or(0) / 100 : 0,
                    .processes = 1,
                    .with_memory = process.mem_used_mb.has_value(),
                    .with_utilisation = found.for_whole_turn && process.util_gpu};
            auto [place, is_new] = sums[i].try_emplace(found.place);
            place->second.add(sum);
            if (is_new && found.place != Place{}) places.push_back(found.place);
        }
    }
    names_.look(places, monotonic_ns());
    std::string page;
    std::vector<std::vector<std::pair<std::string, Sum>>> lines;
    for (const std::map<Place, Sum>& of : sums) {
        std::map<std::string, Sum> by_labels;  // restarted containers have one name
        for (const auto& [place, sum] : of) by_labels[labels(place, names_.find(place))].add(sum);
        lines.push_back(largest_sums(by_labels));
    }
    auto add = [&](std::string_view name, std::string_view help, auto&& value) {
        Family family(page, name, "gauge", help);
        for (std::size_t i = 0; i < devices.size(); ++i)
            for (const auto& [labels, sum] : lines[i]) family.add(labels_of(devices[i].device) + labels, value(sum));
    };
    add("gpu_profile_process_mem_used_bytes",
        "Device memory of the processes of a container, as the driver reports it.",
        [](const Sum& sum) { return sum.with_memory == sum.processes ? std::optional(sum.memory) : std::nullopt; });
    add("gpu_profile_process_util_ratio",
        "Sum of the driver's utilisation samples of the processes of a container; processes without samples do not "
        "count.",
        [](const Sum& sum) { return sum.with_utilisation > 0 ? std::optional(sum.utilisation) : std::nullopt; });
    add("gpu_profile_processes", "Number of processes of a container that use the GPU.",
        [](const Sum& sum) { return std::optional(static_cast<double>(sum.processes)); });
    Family unattributed(page, "gpu_profile_unattributed_processes", "gauge",
                        "Processes that use the GPU and are in no sum, by reason.");
    for (std::size_t i = 0; i < devices.size(); ++i)
        for (const auto& [reason, count] : without[i])
            unattributed.add(fmt::format("{},reason=\"{}\"", labels_of(devices[i].device), reason),
                             static_cast<double>(count));
    Family ignored(page, "gpu_profile_ignored_pod_folders", "gauge",
                   "Entries of the folders of pod logs with names that Kubernetes does not give.");
    ignored.add("", static_cast<double>(names_.ignored()));
    Family many(page, "gpu_profile_pod_folders_incomplete", "gauge",
                "1 if the folders of pod logs have more than 8192 entries, of which the rest was not read.");
    many.add("", names_.too_many() ? 1 : 0);
    return page;
}

}  // namespace gpuprof::cli
