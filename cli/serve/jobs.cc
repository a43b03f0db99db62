#include "cli/serve/jobs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "cli/aggregate/aggregation.h"
#include "cli/serve/prometheus.h"
#include "core/base/files/names_in.h"
#include "core/base/files/sink.h"
#include "core/base/whole_file.h"
#include "io/exporters/pprof.h"

namespace gpuprof::inline cli {
namespace {

constexpr DurNs kGoneAfter = 300'000'000'000;
constexpr std::uint64_t kMostFile = std::uint64_t{4} << 20;
constexpr std::size_t kMostSnapshots = 1024;
constexpr double kSecond = 1e9;

// One rank in one snapshot.
struct Shown {
    const RankTotals& of;
    std::string labels;

    std::string device(std::int32_t number) const {
        auto known =
            std::find_if(of.devices.begin(), of.devices.end(), [&](const auto& each) { return each.device == number; });
        std::string text = fmt::format("{},gpu=\"{}\"", labels, number);
        if (known != of.devices.end() && !known->uuid.empty())
            text += fmt::format(",uuid=\"{}\"", label_escaped(known->uuid));
        return text;
    }
};

std::string with(const std::string& labels, std::string_view name, std::string_view value) {
    return fmt::format("{},{}=\"{}\"", labels, name, label_escaped(value));
}

// What the recorder knows of its pod, and the folders of this host's pods.
std::string pod_labels(const JobTotals& totals, const PodNames* names) {
    PodName name = names == nullptr ? PodName{} : names->find({.pod_uid = totals.pod_uid});
    if (name.pod.empty()) name = {.space = totals.pod_namespace, .pod = totals.pod};
    name.container = totals.container;
    return Containers::labels({.pod_uid = totals.pod_uid}, name);
}

// Kernels without a series of their own are one, which also has what those with a series ran before they had it.
void add_kernels(Family& family, const std::vector<Shown>& ranks, const std::function<double(const DurationTotal&)>& of,
                 const std::function<double(const KernelTotal&)>& before) {
    for (const Shown& rank : ranks) {
        std::map<std::int32_t, std::optional<double>> other;
        for (const KernelTotal& each : rank.of.kernels) {
            if (each.shown)
                family.add(with(rank.device(each.device), "kernel", each.name), of(each.runs) - before(each));
            double rest = each.shown ? before(each) : of(each.runs);
            if (!each.shown || rest > 0) other[each.device] = other[each.device].value_or(0) + rest;
        }
        for (const auto& [device, rest] : other)
            family.add(with(rank.device(device), "kernel", JobTotals::kOther), rest);
    }
}

// Twelve buckets, each four times as long as the one before, from 2^`first` ns on. Their edges are edges of the durations too, so the
// counts are exact.
void add_histogram(Family& family, const std::string& labels, const Durations& durations, int first, double sum_ns) {
    constexpr int kBuckets = 12, kOctaves = 2;
    std::vector<std::pair<int, std::uint64_t>> counts;
    durations.each([&](int edge, std::uint64_t count) { counts.emplace_back(edge, count); });
    auto until = [&](int edge) {
        std::uint64_t all = 0;
        for (const auto& [at, count] : counts)
            if (at <= edge) all += count;
        return static_cast<double>(all);
    };
    for (int i = 0; i < kBuckets; ++i) {
        int octave = first + kOctaves * i;
        double edge = static_cast<double>(std::uint64_t{1} << octave) / kSecond;
        family.add(with(labels, "le", metric_number(edge)), until(octave * Durations::kPerOctave), "_bucket");
    }
    family.add(with(labels, "le", "+Inf"), until(Durations::kEdges), "_bucket");
    family.add(labels, sum_ns / kSecond, "_sum");
    family.add(labels, until(Durations::kEdges), "_count");
}

// Sums over kernels; a rank has at most 19 phases.
void add_phases(std::string& page, const std::vector<Shown>& ranks) {
    auto each_phase = [&](Family family, const std::function<double(const PhaseTotal&)>& of) {
        for (const Shown& rank : ranks) {
            std::map<std::pair<std::int32_t, std::uint8_t>, double> sums;
            for (const KernelTotal& kernel : rank.of.kernels)
                for (const PhaseTotal& each : kernel.phases) sums[{kernel.device, each.phase}] += of(each);
            for (const auto& [place, sum] : sums)
                family.add(with(rank.device(place.first), "phase", rank.of.phases.at(place.second)), sum);
        }
    };
    each_phase({page, "gpu_profile_job_phase_kernel_seconds_total", "counter",
                "Sum of the durations of kernels, by the NVTX range in which they were launched."},
               [](const PhaseTotal& of) { return static_cast<double>(of.total) / kSecond; });
    each_phase({page, "gpu_profile_job_phase_kernels_total", "counter",
                "Executions of kernels, by the NVTX range in which they were launched."},
               [](const PhaseTotal& of) { return static_cast<double>(of.count); });
}

void add_devices(std::string& page, const std::vector<Shown>& ranks) {
    auto each_device = [&](Family& family, DurNs DeviceTotal::*value) {
        for (const Shown& rank : ranks)
            for (const DeviceTotal& each : rank.of.devices)
                family.add(rank.device(each.device), static_cast<double>(each.*value) / kSecond);
    };
    Family busy(page, "gpu_profile_job_busy_seconds_total", "counter",
                "Seconds with any work of the process on the GPU.");
    each_device(busy, &DeviceTotal::busy);
    Family idle(page, "gpu_profile_job_idle_seconds_total", "counter",
                "Seconds without work between two ops of the process, by the launch of the second one.");
    for (const Shown& rank : ranks)
        for (const DeviceTotal& each : rank.of.devices)
            for (std::size_t i = 0; i < kGaps; ++i)
                idle.add(with(rank.device(each.device), "cause", kGapNames[i]),
                         static_cast<double>(each.idle[i]) / kSecond);
    Family collective(page, "gpu_profile_job_collective_seconds_total", "counter", "Seconds with a collective kernel.");
    each_device(collective, &DeviceTotal::collective);
    Family exposed(page, "gpu_profile_job_collective_exposed_seconds_total", "counter",
                   "Seconds with a collective but no other kernel.");
    each_device(exposed, &DeviceTotal::exposed_collective);
    Family gaps(page, "gpu_profile_job_idle_gap_seconds", "histogram", "Lengths of the idle time between two ops.");
    for (const Shown& rank : ranks)
        for (const DeviceTotal& each : rank.of.devices) {
            constexpr int kShortest = 10;  // 2^10 ns
            double sum = 0;
            for (DurNs idle_ns : each.idle) sum += static_cast<double>(idle_ns);
            add_histogram(gaps, rank.device(each.device), each.gaps, kShortest, sum);
        }
}

void add_copies(std::string& page, const std::vector<Shown>& ranks) {
    auto each_copy = [&](Family family, const std::function<double(const CopyTotal&)>& of) {
        for (const Shown& rank : ranks)
            for (const CopyTotal& each : rank.of.copies)
                family.add(with(rank.device(each.device), "kind", each.kind), of(each));
    };
    each_copy({page, "gpu_profile_job_copy_bytes_total", "counter", "Bytes copied or set, by kind."},
              [](const CopyTotal& copy) { return static_cast<double>(copy.bytes); });
    each_copy(
        {page, "gpu_profile_job_copy_seconds_total", "counter", "Sum of the durations of copies and fills, by kind."},
        [](const CopyTotal& copy) { return static_cast<double>(copy.total) / kSecond; });
}

}  // namespace

void JobPages::look(TimeNs now) {
    Result<std::vector<std::string>> names = list_names(folder_);
    problem_ = names.ok() ? "" : names.error().message;
    if (!names.ok()) return;
    std::set<std::string> seen;
    for (const std::string& name : *names) {
        if (!name.ends_with(Aggregation::kSuffix) || name.starts_with('.') || seen.size() == kMostSnapshots) continue;
        struct stat about {};
        std::string path = folder_ + "/" + name;
        if (lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
        seen.insert(name);
        Snapshot& snapshot = snapshots_[name];
        std::pair version(static_cast<std::int64_t>(about.st_ino),
                          static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec);
        if (snapshot.version == version) continue;
        Result<std::string> text = read_whole_file(path, kMostFile);
        Result<JobTotals> totals = text.ok() ? parse_job_totals(*text) : text.error();
        if (!totals.ok()) continue;  // the one before stays until it is too old
        snapshot.version = version;
        snapshot.totals = std::move(*totals);
        snapshot.recorder = name.substr(0, name.rfind('.'));
        snapshot.past.push_back(moment_of(snapshot.totals));
        while (snapshot.past.size() > 2 && snapshot.past[1].written < now - kMostProfile) snapshot.past.pop_front();
    }
    std::erase_if(snapshots_, [&](const auto& each) { return !seen.contains(each.first) || !alive(each.second, now); });
}

bool JobPages::alive(const Snapshot& snapshot, TimeNs now) const { return now - snapshot.totals.written < kGoneAfter; }

JobPages::Moment JobPages::moment_of(const JobTotals& totals) {
    Moment moment{.written = totals.written};
    for (std::size_t rank = 0; rank < totals.ranks.size(); ++rank)
        for (const KernelTotal& each : totals.ranks[rank].kernels)
            moment.kernels[fmt::format("{} {} {}", rank, each.device, each.name)] = {each.runs.count, each.runs.total};
    return moment;
}

std::vector<Place> JobPages::places() const {
    std::vector<Place> places;
    for (const auto& [name, snapshot] : snapshots_)
        if (!snapshot.totals.pod_uid.empty()) places.push_back({.pod_uid = snapshot.totals.pod_uid});
    return places;
}

std::string JobPages::exposition(TimeNs now, const PodNames* names) const {
    std::vector<Shown> ranks;
    std::string page;
    Family age(page, "gpu_profile_job_snapshot_age_seconds", "gauge", "Seconds since the recorder wrote its totals.");
    Family cpu(page, "gpu_profile_job_recorder_cpu_seconds_total", "counter",
               "CPU time of the recorder that adds up the totals.");
    std::vector<std::pair<std::string, double>> cpus;
    for (const auto& [name, snapshot] : snapshots_) {
        if (!alive(snapshot, now)) continue;
        std::string labels = fmt::format("host=\"{}\",recorder=\"{}\"", label_escaped(snapshot.totals.host),
                                         label_escaped(snapshot.recorder));
        labels += pod_labels(snapshot.totals, names);
        age.add(labels, std::max(0.0, static_cast<double>(now - snapshot.totals.written) / kSecond));
        cpus.emplace_back(labels, static_cast<double>(snapshot.totals.recorder_cpu) / kSecond);
        for (const RankTotals& of : snapshot.totals.ranks) {
            std::string own = labels;
            if (!of.job.empty()) own = with(own, "job_id", of.job);
            if (of.rank) own = with(own, "rank", std::to_string(*of.rank));
            ranks.push_back({of, std::move(own)});
        }
    }
    for (const auto& [labels, seconds] : cpus) cpu.add(labels, seconds);
    Family seconds(page, "gpu_profile_job_kernel_seconds_total", "counter",
                   "Sum of the durations of a kernel; the 50 largest of a rank and GPU, and the rest.");
    add_kernels(
        seconds, ranks, [](const DurationTotal& runs) { return static_cast<double>(runs.total) / kSecond; },
        [](const KernelTotal& kernel) { return static_cast<double>(kernel.total_before) / kSecond; });
    Family count(page, "gpu_profile_job_kernels_total", "counter", "Executions of a kernel.");
    add_kernels(
        count, ranks, [](const DurationTotal& runs) { return static_cast<double>(runs.count); },
        [](const KernelTotal& kernel) { return static_cast<double>(kernel.count_before); });
    add_phases(page, ranks);
    add_devices(page, ranks);
    add_copies(page, ranks);
    Family steps(page, "gpu_profile_job_step_seconds", "histogram", "Durations of steps.");
    constexpr int kShortestStep = 20;  // 2^20 ns: a millisecond
    for (const Shown& rank : ranks)
        if (rank.of.steps.count > 0)
            add_histogram(steps, rank.labels, rank.of.steps.durations, kShortestStep,
                          static_cast<double>(rank.of.steps.total));
    Family lost(page, "gpu_profile_job_lost_records_total", "counter",
                "What the totals lack, by reason; a part is up to two seconds of one process.");
    for (const Shown& rank : ranks) {
        for (const auto& [reason, missing] : rank.of.lost)
            lost.add(with(rank.labels, "reason", reason), static_cast<double>(missing));
        std::uint64_t late = 0;
        for (const DeviceTotal& each : rank.of.devices) late += each.late;
        lost.add(with(rank.labels, "reason", "late"), static_cast<double>(late));
    }
    return page;
}

Result<std::string> JobPages::profile(DurNs length, TimeNs now) const {
    FlatProfile profile;
    TimeNs first = now, last = 0;
    for (const auto& [name, snapshot] : snapshots_) {
        if (!alive(snapshot, now) || snapshot.past.empty()) continue;
        const Moment* from = nullptr;  // the newest that is old enough, or the oldest
        for (const Moment& each : snapshot.past)
            if (from == nullptr || each.written <= now - length) from = &each;
        const JobTotals& totals = snapshot.totals;
        first = std::min(first, length == 0 ? totals.started : from->written);
        last = std::max(last, totals.written);
        for (std::size_t rank = 0; rank < totals.ranks.size(); ++rank)
            for (const KernelTotal& each : totals.ranks[rank].kernels) {
                std::pair<std::uint64_t, DurNs> before{};
                if (length > 0)
                    if (auto known = from->kernels.find(fmt::format("{} {} {}", rank, each.device, each.name));
                        known != from->kernels.end())
                        before = known->second;
                if (each.runs.count <= before.first || each.runs.total < before.second) continue;
                FlatProfile::Sample sample{.name = each.name,
                                           .count = static_cast<std::int64_t>(each.runs.count - before.first),
                                           .device = each.runs.total - before.second};
                sample.labels = {{"host", totals.host}, {"gpu", std::to_string(each.device)}};
                if (totals.ranks[rank].rank)
                    sample.labels.emplace_back("rank", std::to_string(*totals.ranks[rank].rank));
                if (!totals.ranks[rank].job.empty()) sample.labels.emplace_back("job", totals.ranks[rank].job);
                profile.samples.push_back(std::move(sample));
            }
    }
    profile.time = first;
    profile.duration = std::max<DurNs>(0, last - first);
    StringSink sink;
    if (Status written = write_flat_profile(profile, sink); !written) return written.error();
    return sink.text();
}

}  // namespace gpuprof::cli
