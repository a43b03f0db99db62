#include "cli/aggregate/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/base/files/sink.h"
#include "core/base/fnv.h"
#include "core/base/json_error.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/utf8.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::int64_t kSnapshotVersion = 1;
constexpr const char* kSnapshotFormat = "gpu-profile aggregate";
constexpr std::pair<std::string_view, std::string JobTotals::*> kPodMembers[] = {
    {"pod_uid", &JobTotals::pod_uid},
    {"namespace", &JobTotals::pod_namespace},
    {"pod", &JobTotals::pod},
    {"container", &JobTotals::container}};

// 2^(63 + i/8), the edges within an octave, rounded down: no integer lies on another edge than the first.
constexpr std::array<std::uint64_t, Durations::kPerOctave> kOctave{
    0x8000000000000000, 0x8B95C1E3EA8BD6E6, 0x9837F0518DB8A96F, 0xA5FED6A9B15138EA,
    0xB504F333F9DE6484, 0xC5672A115506DADD, 0xD744FCCAD69D6AF4, 0xEAC0C6E7DD24392E};

// Short, valid and without controls, so that a snapshot's size is bounded; different names stay different.
std::string bounded_name(std::string_view name) {
    std::string text = printable(name.substr(0, 4 * JobTotals::kMaxOneName));
    if (text.size() <= JobTotals::kMaxOneName && name.size() <= 4 * JobTotals::kMaxOneName) return text;
    std::size_t cut = JobTotals::kMaxOneName - 24;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    return fmt::format("{}... #{:016x}", text.substr(0, cut), fnv1a(name));
}

}  // namespace

int Durations::edge_of(DurNs each) {
    if (each <= 1) return 0;
    auto value = static_cast<std::uint64_t>(each);
    int octave = 63 - std::countl_zero(value);
    std::uint64_t scaled = value << (63 - octave);
    auto within = std::lower_bound(kOctave.begin(), kOctave.end(), scaled) - kOctave.begin();
    return octave * kPerOctave + static_cast<int>(within);
}

std::uint64_t& Durations::counts_at(int edge) {
    if (counts_.empty()) first_ = edge;
    if (edge < first_) {
        counts_.insert(counts_.begin(), static_cast<std::size_t>(first_ - edge), 0);
        first_ = edge;
    }
    auto place = static_cast<std::size_t>(edge - first_);
    if (place >= counts_.size()) counts_.resize(place + 1, 0);
    return counts_[place];
}

std::uint8_t RankTotals::phase(std::string_view name, bool to_be_added) {
    auto known = std::find(phases.begin() + kUnknownPhase + 1, phases.end(), name);
    if (known == phases.end()) {
        if (!to_be_added || phases.size() > kUnknownPhase + kMostPhases) return kOtherPhase;
        known = phases.insert(known, std::string(name));
    }
    return static_cast<std::uint8_t>(known - phases.begin());
}

void RankTotals::add_phase(KernelTotal& kernel, std::uint8_t phase, std::uint64_t count, DurNs took) {
    auto total_of = [&](std::uint8_t wanted) {
        return std::find_if(kernel.phases.begin(), kernel.phases.end(),
                            [&](const auto& each) { return each.phase == wanted; });
    };
    auto total = total_of(phase);
    if (total == kernel.phases.end() && phase > kUnknownPhase && phase_totals >= kMostPhaseTotals)
        total = total_of(phase = kOtherPhase);
    if (total == kernel.phases.end()) {
        total = kernel.phases.insert(total, {.phase = phase});
        phase_totals += phase > kUnknownPhase;
    }
    total->count += count;
    total->total += took;
}

DeviceTotal& RankTotals::device(std::int32_t number) {
    auto known = std::find_if(devices.begin(), devices.end(), [&](const auto& each) { return each.device == number; });
    if (known != devices.end()) return *known;
    return devices.emplace_back(DeviceTotal{.device = number});
}

std::size_t RankTotals::copy(std::string_view kind, std::int32_t device) {
    auto known = std::find_if(copies.begin(), copies.end(),
                              [&](const auto& each) { return each.device == device && each.kind == kind; });
    if (known == copies.end())
        known = copies.insert(copies.end(), CopyTotal{.kind = std::string(kind), .device = device});
    return static_cast<std::size_t>(known - copies.begin());
}

RankTotals& JobTotals::rank(std::optional<std::int64_t> number, std::string_view job) {
    std::string bounded = bounded_name(job);
    for (RankTotals& each : ranks)
        if (each.rank == number && each.job == bounded) return each;
    if (ranks.size() >= kMaxRanks) return ranks.back();
    return ranks.emplace_back(RankTotals{.rank = number, .job = bounded});
}

std::size_t JobTotals::kernel(RankTotals& of, std::string_view name, std::int32_t device) {
    auto place_of = [&](const std::string& text) {
        return of.places.try_emplace(fmt::format("{} {}", device, text), of.kernels.size());
    };
    std::string bounded = bounded_name(name);
    auto [place, added] = place_of(bounded);
    if (!added) return place->second;
    if (names_ >= kMaxNames || name_bytes_ + bounded.size() > kMaxNameBytes) {
        of.places.erase(place);
        bounded = kOther;
        std::tie(place, added) = place_of(bounded);
        if (!added) return place->second;
    }
    ++names_;
    name_bytes_ += bounded.size();
    of.kernels.push_back({.name = std::move(bounded), .device = device});
    return place->second;
}

void JobTotals::choose_shown() {
    constexpr double kLeastShare = 0.01;  // of the device's kernel time
    for (RankTotals& of : ranks) {
        std::map<std::int32_t, std::vector<KernelTotal*>> by_device;
        for (KernelTotal& each : of.kernels) by_device[each.device].push_back(&each);
        for (auto& [device, kernels] : by_device) {
            std::sort(kernels.begin(), kernels.end(),
                      [](const auto* a, const auto* b) { return a->runs.total > b->runs.total; });
            double total = 0;
            std::size_t shown = 0;
            for (const KernelTotal* each : kernels) {
                total += static_cast<double>(each->runs.total);
                shown += each->shown;
            }
            for (KernelTotal* each : kernels) {
                if (each->shown || each->name == kOther) continue;
                bool large = kernels.size() <= kShown || static_cast<double>(each->runs.total) >= total * kLeastShare;
                if (large && shown < kShown) {
                    each->shown = true;
                    ++shown;
                } else {
                    each->count_before = each->runs.count;
                    each->total_before = each->runs.total;
                }
            }
        }
    }
}

namespace {

void write_durations(JsonWriter& json, std::string_view key, const Durations& durations) {
    json.key(key);
    json.begin_array();
    durations.each([&](int edge, std::uint64_t count) {
        json.begin_array();
        json.integer(edge);
        json.integer(static_cast<std::int64_t>(count));
        json.end_array();
    });
    json.end_array();
}

void put_count(JsonWriter& json, std::string_view key, std::uint64_t count) {
    json.member(key, static_cast<std::int64_t>(count));
}

void write_runs(JsonWriter& json, const DurationTotal& runs) {
    put_count(json, "count", runs.count);
    json.member("total_ns", runs.total);
    if (runs.count > 0) {
        json.member("min_ns", runs.shortest);
        json.member("max_ns", runs.longest);
    }
    write_durations(json, "durations", runs.durations);
}

template <class Each, class Write>
void write_list(JsonWriter& json, std::string_view key, const std::vector<Each>& list, Write&& write) {
    json.key(key);
    json.begin_array();
    for (const Each& each : list) {
        json.begin_object();
        write(each);
        json.end_object();
    }
    json.end_array();
}

void write_rank(JsonWriter& json, const RankTotals& of) {
    if (of.rank) json.member("rank", *of.rank);
    if (!of.job.empty()) json.member("job", of.job);
    put_count(json, "processes", of.processes);
    json.key("phases");
    json.begin_array();
    for (const std::string& each : of.phases) json.text(each);
    json.end_array();
    write_list(json, "devices", of.devices, [&](const DeviceTotal& each) {
        json.member("device", each.device);
        if (!each.uuid.empty()) json.member("uuid", each.uuid);
        json.member("busy_ns", each.busy);
        json.key("idle_ns");
        json.begin_object();
        for (std::size_t i = 0; i < kGaps; ++i) json.member(kGapNames[i], each.idle[i]);
        json.end_object();
        write_durations(json, "gaps", each.gaps);
        json.member("collective_ns", each.collective);
        json.member("exposed_collective_ns", each.exposed_collective);
        put_count(json, "late", each.late);
    });
    write_list(json, "kernels", of.kernels, [&](const KernelTotal& each) {
        json.member("name", each.name);
        json.member("device", each.device);
        write_runs(json, each.runs);
        json.key("shown");
        json.boolean(each.shown);
        if (!each.phases.empty()) {
            json.key("phases");
            json.begin_array();
            for (const PhaseTotal& of_phase : each.phases) {
                json.begin_array();
                json.integer(of_phase.phase);
                json.integer(static_cast<std::int64_t>(of_phase.count));
                json.integer(of_phase.total);
                json.end_array();
            }
            json.end_array();
        }
        put_count(json, "count_before", each.count_before);
        json.member("total_before_ns", each.total_before);
    });
    write_list(json, "copies", of.copies, [&](const CopyTotal& each) {
        json.member("kind", each.kind);
        json.member("device", each.device);
        put_count(json, "count", each.count);
        put_count(json, "bytes", each.bytes);
        json.member("total_ns", each.total);
    });
    json.key("steps");
    json.begin_object();
    write_runs(json, of.steps);
    json.end_object();
    json.key("lost");
    json.begin_object();
    for (const auto& [reason, count] : of.lost) put_count(json, reason, count);
    json.end_object();
}

}  // namespace

std::string encode(const JobTotals& totals) {
    StringSink sink;
    JsonWriter json(sink, 3);
    json.begin_object();
    json.member("format", kSnapshotFormat);
    json.member("version", kSnapshotVersion);
    json.member("host", totals.host);
    for (auto [key, member] : kPodMembers)
        if (const std::string& value = totals.*member; !value.empty()) json.member(key, value);
    json.member("started_ns", totals.started);
    json.member("written_ns", totals.written);
    json.member("recorder_cpu_ns", totals.recorder_cpu);
    json.key("ended");
    json.boolean(totals.ended);
    write_list(json, "ranks", totals.ranks, [&](const RankTotals& each) { write_rank(json, each); });
    json.end_object();
    return sink.text() + "\n";
}

namespace {

using simdjson::dom::element;

std::int64_t number_in(const element& of, std::string_view key) {
    std::int64_t value = 0;
    return fault_of_text(of[key].get(value)) == simdjson::SUCCESS ? value : 0;
}
std::uint64_t count_in(const element& of, std::string_view key) {
    return static_cast<std::uint64_t>(number_in(of, key));
}
bool flag_in(const element& of, std::string_view key) {
    bool value = false;
    return fault_of_text(of[key].get(value)) == simdjson::SUCCESS && value;
}
std::string text_in(const element& of, std::string_view key) {
    std::string_view value;
    return fault_of_text(of[key].get(value)) == simdjson::SUCCESS ? std::string(value) : "";
}
template <class Visit>
void each_in(const element& of, std::string_view key, Visit&& visit) {
    simdjson::dom::array list;
    if (fault_of_text(of[key].get(list)) == simdjson::SUCCESS)
        for (element each : list) visit(each);
}

Durations durations_in(const element& of, std::string_view key) {
    Durations durations;
    each_in(of, key, [&](const element& pair) {
        std::int64_t edge = -1, count = 0;
        bool read = fault_of_text(pair.at(0).get(edge)) == simdjson::SUCCESS &&
                    fault_of_text(pair.at(1).get(count)) == simdjson::SUCCESS;
        if (read && edge >= 0 && edge < Durations::kEdges && count > 0)
            durations.add_at(static_cast<int>(edge), static_cast<std::uint64_t>(count));
    });
    return durations;
}

DurationTotal runs_in(const element& of) {
    return {.count = count_in(of, "count"),
            .total = number_in(of, "total_ns"),
            .shortest = number_in(of, "min_ns"),
            .longest = number_in(of, "max_ns"),
            .durations = durations_in(of, "durations")};
}

std::int32_t device_in(const element& of) { return static_cast<std::int32_t>(number_in(of, "device")); }

// Whether every number can be added to without overflow, and is not negative: 2^62 ns are 146 years.
bool has_plausible_numbers(const element& of) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    if (of.is_array()) {
        for (element each : of.get_array())
            if (!has_plausible_numbers(each)) return false;
    } else if (of.is_object()) {
        for (auto [key, each] : of.get_object())
            if (!has_plausible_numbers(each)) return false;
    }
    std::int64_t value = 0;
    return !of.is_number() || (of.get(value) == simdjson::SUCCESS && value >= 0 && value <= kMost);
}

void read_rank(const element& from, JobTotals& totals) {
    std::int64_t rank = 0;
    bool ranked = fault_of_text(from["rank"].get(rank)) == simdjson::SUCCESS;
    RankTotals& of = totals.rank(ranked ? std::optional(rank) : std::nullopt, text_in(from, "job"));
    of.processes = count_in(from, "processes");
    std::vector<std::uint8_t> phases;  // by the file's numbers
    each_in(from, "phases", [&](const element& each) {
        std::string_view name;
        auto number = static_cast<std::uint8_t>(std::min<std::size_t>(phases.size(), RankTotals::kOtherPhase));
        bool named = phases.size() > RankTotals::kUnknownPhase && fault_of_text(each.get(name)) == simdjson::SUCCESS;
        if (phases.size() == RankTotals::kUnknownPhase) number = RankTotals::kUnknownPhase;
        phases.push_back(named ? of.phase(printable(name), true) : number);
    });
    each_in(from, "devices", [&](const element& each) {
        DeviceTotal& device = of.device(device_in(each));
        device.uuid = printable(text_in(each, "uuid"));
        device.busy = number_in(each, "busy_ns");
        device.collective = number_in(each, "collective_ns");
        device.exposed_collective = number_in(each, "exposed_collective_ns");
        device.late = count_in(each, "late");
        device.gaps = durations_in(each, "gaps");
        element idle;
        if (fault_of_text(each["idle_ns"].get(idle)) != simdjson::SUCCESS) return;
        for (std::size_t i = 0; i < kGaps; ++i) device.idle[i] = number_in(idle, kGapNames[i]);
    });
    each_in(from, "kernels", [&](const element& each) {
        KernelTotal& kernel = of.kernels[totals.kernel(of, text_in(each, "name"), device_in(each))];
        kernel.runs = runs_in(each);
        kernel.shown = flag_in(each, "shown") && kernel.name != JobTotals::kOther;
        each_in(each, "phases", [&](const element& total) {
            std::int64_t phase = 0, count = 0, took = 0;
            bool read = fault_of_text(total.at(0).get(phase)) == simdjson::SUCCESS &&
                        fault_of_text(total.at(1).get(count)) == simdjson::SUCCESS &&
                        fault_of_text(total.at(2).get(took)) == simdjson::SUCCESS;
            if (read && static_cast<std::size_t>(phase) < phases.size())
                of.add_phase(kernel, phases[static_cast<std::size_t>(phase)], static_cast<std::uint64_t>(count), took);
        });
        kernel.count_before = count_in(each, "count_before");
        kernel.total_before = number_in(each, "total_before_ns");
    });
    each_in(from, "copies", [&](const element& each) {
        CopyTotal& copy = of.copies[of.copy(printable(text_in(each, "kind")), device_in(each))];
        copy.count = count_in(each, "count");
        copy.bytes = count_in(each, "bytes");
        copy.total = number_in(each, "total_ns");
    });
    if (element steps; fault_of_text(from["steps"].get(steps)) == simdjson::SUCCESS) of.steps = runs_in(steps);
    simdjson::dom::object lost;
    if (fault_of_text(from["lost"].get(lost)) == simdjson::SUCCESS)
        for (auto [reason, count] : lost) {
            std::int64_t value = 0;
            if (fault_of_text(count.get(value)) == simdjson::SUCCESS && value > 0 && of.lost.size() < 32)
                of.lost[printable(reason)] = static_cast<std::uint64_t>(value);
        }
}

}  // namespace

Result<JobTotals> parse_job_totals(std::string_view text) {
    simdjson::dom::parser parser;
    element root;
    if (parse_text(parser, text, root) != simdjson::SUCCESS || text_in(root, "format") != kSnapshotFormat)
        return Error{ExitCode::unreadable, "not a snapshot of record --aggregate"};
    if (std::int64_t version = number_in(root, "version"); version != kSnapshotVersion)
        return Error{ExitCode::unreadable,
                     fmt::format("a snapshot of version {}; this program reads version {}", version, kSnapshotVersion)};
    if (!has_plausible_numbers(root)) return Error{ExitCode::unreadable, "a snapshot with implausible numbers"};
    JobTotals totals;
    totals.host = printable(text_in(root, "host"));
    for (auto [key, member] : kPodMembers) {
        constexpr std::size_t kLongest = 253;  // of names in Kubernetes
        std::string value = printable(text_in(root, key));
        if (value.size() <= kLongest) totals.*member = std::move(value);
    }
    totals.started = number_in(root, "started_ns");
    totals.written = number_in(root, "written_ns");
    totals.recorder_cpu = number_in(root, "recorder_cpu_ns");
    totals.ended = flag_in(root, "ended");
    each_in(root, "ranks", [&](const element& each) { read_rank(each, totals); });
    return totals;
}

}  // namespace gpuprof::cli
