#include "cli/aggregate/process_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "analyze/facts/activity.h"
#include "core/base/fnv.h"
#include "core/base/text/function_name.h"
#include "core/format/bytes.h"
#include "core/format/spool.h"
#include "core/model/build/device_clock.h"
#include "core/model/build/submission.h"
#include "core/schema/meta_keys.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline cli {

void LaunchCalls::add(std::uint32_t id, TimeNs start, TimeNs waited) {
    constexpr DurNs kYoung = 2 * DeviceSweep::kWindow;
    Call* call = &calls_[id & (calls_.size() - 1)];
    while (call->id != 0 && call->id != id && start - call->start < kYoung && calls_.size() < kMost) {
        std::vector<Call> old = std::exchange(calls_, std::vector<Call>(2 * calls_.size()));
        for (const Call& each : old)
            if (each.id != 0) calls_[each.id & (calls_.size() - 1)] = each;
        call = &calls_[id & (calls_.size() - 1)];
    }
    *call = {start, waited, id};
}

void LaunchCalls::set_phase(std::uint32_t id, std::uint8_t phase) {
    Call& call = calls_[id & (calls_.size() - 1)];
    if (call.id == id) call.phase = phase;
}

bool LaunchCalls::find(SweptOp& op) const {
    const Call& call = calls_[op.call & (calls_.size() - 1)];
    if (op.call == 0 || call.id != op.call) return false;
    op.launched = call.start;
    op.waited = call.waited;
    op.phase = call.phase;
    return true;
}

void DeviceSweep::add(const SweptOp& op, const LaunchCalls& calls, RankTotals& of) {
    latest_ = std::max(latest_, op.start);
    waiting_.push_back(op);
    calls.find(waiting_.back());
    if (waiting_.size() < kMostWaiting) return;
    std::vector<TimeNs> starts;
    for (const SweptOp& each : waiting_) starts.push_back(each.start);
    auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
    std::nth_element(starts.begin(), middle, starts.end());
    sweep(*middle + 1, calls, of, of.device(op.device));
}

void DeviceSweep::sweep(TimeNs until, const LaunchCalls& calls, RankTotals& of, DeviceTotal& total) {
    auto by_start = [](const SweptOp& a, const SweptOp& b) { return a.start < b.start; };
    auto fresh = waiting_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    if (!std::is_sorted(fresh, waiting_.end(), by_start)) std::stable_sort(fresh, waiting_.end(), by_start);
    bool follows = sorted_ == 0 || sorted_ == waiting_.size() || fresh->start >= waiting_[sorted_ - 1].start;
    if (!follows) std::inplace_merge(waiting_.begin(), fresh, waiting_.end(), by_start);
    auto end = std::lower_bound(waiting_.begin(), waiting_.end(), SweptOp{.start = until}, by_start);
    for (auto op = waiting_.begin(); op != end; ++op) {
        calls.find(*op);
        if (op->kernel != SweptOp::kNoKernel) of.add_phase(of.kernels[op->kernel], op->phase, 1, op->end - op->start);
        take(*op, total);
    }
    waiting_.erase(waiting_.begin(), end);
    sorted_ = waiting_.size();
}

// What was in flight in [at_, start) is known, because every op counted so far started before: a kind is in flight until the
// latest of their ends. The same as the interval sets of analyze/facts/activity.h, without keeping them.
void DeviceSweep::take(const SweptOp& op, DeviceTotal& total) {
    if (op.end <= op.start) return;  // an empty op does not end a gap
    TimeNs& until = busy_until_[op.kind];
    if (op.start < at_) {
        ++total.late;
        until = std::max(until, op.end);
        return;
    }
    if (at_ != 0) {
        TimeNs all = *std::max_element(busy_until_.begin(), busy_until_.end());
        auto within = [&](TimeNs end, TimeNs from) { return std::max<DurNs>(0, std::min(end, op.start) - from); };
        total.busy += within(all, at_);
        total.collective += within(busy_until_[SweptOp::collective], at_);
        total.exposed_collective +=
            within(busy_until_[SweptOp::collective], std::max(at_, busy_until_[SweptOp::compute]));
        if (all < op.start) {
            Gap cause = Gap::unknown;
            if (op.launched != 0) cause = op.launched <= all ? Gap::queued : Gap::host_late;
            if (cause == Gap::host_late && op.waited > all && op.waited <= op.launched) cause = Gap::host_waited;
            total.idle[static_cast<std::size_t>(cause)] += op.start - all;
            total.gaps.add(op.start - all);
        }
    }
    at_ = op.start;
    until = std::max(until, op.end);
}

// What is in flight when the process ends.
void DeviceSweep::finish(DeviceTotal& total) {
    TimeNs all = *std::max_element(busy_until_.begin(), busy_until_.end());
    take({.start = all, .end = all + 1}, total);
    at_ = 0;
    busy_until_ = {};
}

struct OpFields {
    cupti::Field<std::uint64_t> start, end;
    cupti::Field<std::uint32_t> device, correlation;
};

namespace {

namespace k = cupti::kernel;
namespace m = cupti::memcpy;
namespace p = cupti::memcpy_p2p;
namespace s = cupti::memset;
namespace g = cupti::graph_trace;
namespace dg = cupti::device_graph_trace;
constexpr cupti::Field<std::uint32_t> kNoCall{~std::uint32_t{0}};  // what a graph that the device launched has
constexpr OpFields kKernelOp{k::start, k::end, k::device, k::correlation};
constexpr OpFields kCopyOp{m::start, m::end, m::device, m::correlation};
constexpr OpFields kPeerOp{p::start, p::end, p::device, p::correlation};
constexpr OpFields kFillOp{s::start, s::end, s::device, s::correlation};
constexpr OpFields kGraphOp{g::start, g::end, g::device, g::correlation};
constexpr OpFields kDeviceGraphOp{dg::start, dg::end, dg::device, kNoCall};

constexpr std::size_t kMaxDevices = 64, kMaxKnown = 16'384;  // known: names and threads that are remembered
constexpr std::uint64_t kLatest = std::uint64_t{1} << 62;    // in 2116: damaged, and differences would overflow
constexpr std::size_t kMostNewCalls = std::size_t{1} << 16;
constexpr std::size_t kNoPlace = ~std::size_t{0};
constexpr const char* kLostNames[] = {"cupti dropped", "annotations",  "text cut",      "unwritten",
                                      "kept buffers",  "late windows", "launch stacks", "graph nodes"};

std::string_view text_at(ByteCursor& cursor) { return cursor.take(cursor.u32()); }

// As the driver's tools write it, "GPU-" and groups of 8, 4, 4, 4 and 12 digits; "" if it is unknown.
std::string uuid_text(std::string_view bytes) {
    if (bytes.find_first_not_of('\0') == bytes.npos) return "";
    std::string text = "GPU";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    }
    return text;
}

}  // namespace

void ProcessTotals::take(const RawChunk& chunk) {
    std::string_view payload = chunk.bytes();
    if (chunk.header.is(ChunkKind::spool_process)) return take_process(payload);
    if (first_part_.empty()) return;
    if (chunk.header.is(ChunkKind::spool_activity))
        take_activity(payload);
    else if (chunk.header.is(ChunkKind::spool_names))
        take_names(payload);
    else if (chunk.header.is(ChunkKind::spool_clock))
        take_clock(payload);
    else if (chunk.header.is(ChunkKind::spool_facts))
        take_facts(payload);
    else if (chunk.header.is(ChunkKind::spool_lost))
        take_lost(payload);
    else if (chunk.header.is(ChunkKind::spool_nvtx))
        take_host_events(payload);
}

void ProcessTotals::take_process(std::string_view payload) {
    std::map<std::string_view, std::string_view> facts;
    each_pair(payload, [&](std::string_view key, std::string_view value) { facts[key] = value; });
    auto number = [&](std::string_view key) { return std::strtoll(std::string(facts[key]).c_str(), nullptr, 10); };
    auto part = static_cast<std::uint64_t>(std::max<long long>(number("part"), 0));
    if (first_part_ != facts["first_part"] || first_part_.empty()) {
        if (!first_part_.empty()) {  // another program in the same process
            sweep(true);
            *this = ProcessTotals(*job_);
        }
        first_part_ = facts["first_part"].empty() ? "0" : facts["first_part"];
        bool ranked = !facts["rank"].empty();
        RankTotals& of = job_->rank(ranked ? std::optional<std::int64_t>(number("rank")) : std::nullopt, facts["job"]);
        rank_ = static_cast<std::size_t>(&of - job_->ranks.data());
        ++of.processes;
    }
    if (part > next_part_) {
        lose("parts", part - next_part_);
        phases_.interrupt();
    }
    next_part_ = part + 1;
    if (names_.size() > kMaxKnown) names_.clear();  // each part has the names that it needs
    if (graphs_.size() > kMaxKnown) graphs_.clear();
    if (waits_.size() > kMaxKnown) waits_.clear();
}

void ProcessTotals::take_names(std::string_view payload) {
    for (ByteCursor cursor(payload); cursor.left() > 0 && cursor.ok();) {
        std::uint8_t space = cursor.u8();
        std::uint64_t id = cursor.u64();
        std::string_view text = text_at(cursor);
        if (!cursor.ok()) return;
        if (static_cast<spool::NameSpace>(space) != spool::NameSpace::pointer) {
            std::string_view call = importers::cuda::without_version(text);
            Call& kind = functions_[id << 8 | space];
            kind = Call::other;
            if (submission_of(call) != Submission::none) kind = Call::launch;
            if (waits_for_device(call) || waits_for_stream(call) || call.find("EventSynchronize") != call.npos)
                kind = Call::wait;
            continue;
        }
        std::uint64_t hash = fnv1a(text);
        Name& name = names_[id];
        if (name.hash == hash) continue;
        std::string whole = demangled(text);
        name = {.hash = hash, .collective = is_collective_kernel(whole), .text = std::move(whole)};
    }
}

void ProcessTotals::take_clock(std::string_view payload) {
    ByteCursor cursor(payload);
    std::uint64_t realtime = cursor.u64();
    cursor.u64();
    std::uint64_t cupti = cursor.u64();
    if (!cursor.ok() || realtime >= kLatest || cupti >= kLatest) return;
    clock_ = static_cast<TimeNs>(cupti != 0 ? cupti : realtime);
    DurNs ahead = clock_ - static_cast<TimeNs>(realtime);
    clock_ahead_ = std::abs(ahead) < kMillisecond ? 0 : ahead;  // as the importer has it
}

void ProcessTotals::take_facts(std::string_view payload) {
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        if (key == meta_key::kRecorderThread)
            recorder_thread_ = static_cast<std::uint32_t>(std::strtoul(std::string(value).c_str(), nullptr, 10));
    });
}

void ProcessTotals::take_lost(std::string_view payload) {
    for (ByteCursor cursor(payload); cursor.left() > 0 && cursor.ok();) {
        std::uint8_t reason = cursor.u8();
        std::uint64_t count = cursor.u64();
        if (!cursor.ok() || reason >= std::size(kLostNames)) continue;
        std::uint64_t& before = lost_[reason];
        if (count > before) lose(kLostNames[reason], count - before);
        before = std::max(before, count);
    }
}

void ProcessTotals::take_host_events(std::string_view payload) {
    ByteCursor cursor(payload);
    std::uint32_t thread = cursor.u32();
    while (cursor.ok() && cursor.left() >= sizeof(std::uint32_t)) {
        std::uint32_t bytes = load_u32(payload.data() + payload.size() - cursor.left());
        if (bytes < 8 || bytes > cursor.left()) return lose("damaged chunks");
        std::string_view whole = cursor.take(bytes);
        spool::HostEvent event{};
        if (whole.size() < sizeof event) continue;
        std::memcpy(&event, whole.data(), sizeof event);
        if (event.op == spool::HostEventOp::step && event.range < std::uint64_t{1} << 50)
            totals().steps.add(static_cast<DurNs>(event.range));
        bool with_text = event.text_kind == spool::TextKind::inline_text && event.text <= bytes - sizeof event;
        if (event.time != 0)
            phases_.add(thread, event, with_text ? whole.substr(sizeof event, event.text) : std::string_view());
    }
}

void ProcessTotals::take_activity(std::string_view payload) {
    std::array<std::uint32_t, 64> lengths{};
    ByteCursor cursor(payload);
    std::uint32_t kinds = cursor.u32();
    for (std::uint32_t i = 0; i < kinds && cursor.ok(); ++i) {
        std::uint32_t kind = cursor.u32(), length = cursor.u32();
        if (kind < lengths.size()) lengths[kind] = length;
    }
    while (cursor.ok() && cursor.left() >= sizeof(std::uint32_t)) {
        std::uint32_t kind = load_u32(payload.data() + payload.size() - cursor.left());
        std::uint32_t length = kind < lengths.size() ? lengths[kind] : 0;
        if (length < 8 || length > cursor.left()) return lose("damaged chunks");
        take_record(cupti::Record(cursor.take(length)));
    }
}

void ProcessTotals::take_record(const cupti::Record& record) {
    using cupti::Kind;
    switch (record.kind()) {
        case Kind::kernel:
        case Kind::concurrent_kernel:
            if (std::optional<SweptOp> op = op_in(record, kKernelOp))
                add_kernel(names_[record.get(cupti::kernel::name)], *op);
            break;
        case Kind::memcpy: {
            std::string_view kind = importers::cuda::copy_kind(record.get(m::copy_kind));
            add_copy(kind.empty() ? "unknown" : kind, record.get(m::bytes), op_in(record, kCopyOp));
            break;
        }
        case Kind::memcpy_p2p: add_copy("PtoP", record.get(p::bytes), op_in(record, kPeerOp)); break;
        case Kind::memset: add_copy("memset", record.get(s::bytes), op_in(record, kFillOp)); break;
        case Kind::graph_trace: add_graph(record.get(g::graph), op_in(record, kGraphOp)); break;
        case Kind::device_graph_trace: add_graph(record.get(dg::graph), op_in(record, kDeviceGraphOp)); break;
        case Kind::runtime: take_call(record, static_cast<std::uint8_t>(spool::NameSpace::runtime_api)); break;
        case Kind::driver: take_call(record, static_cast<std::uint8_t>(spool::NameSpace::driver_api)); break;
        case Kind::device: add_device(record); break;
        default: break;
    }
}

void ProcessTotals::take_call(const cupti::Record& record, std::uint8_t space) {
    namespace a = cupti::api;
    std::uint32_t thread = record.get(a::thread);
    auto function = functions_.find(std::uint64_t{record.get(a::cbid)} << 8 | space);
    if (function == functions_.end() || function->second == Call::other) return;
    auto start = static_cast<TimeNs>(record.get(a::start)), end = static_cast<TimeNs>(record.get(a::end));
    if (start <= 0 || start >= TimeNs{kLatest} || end < start || (thread != 0 && thread == recorder_thread_)) return;
    TimeNs& waited = waits_[thread];
    if (function->second == Call::wait) {
        waited = end;
        return;
    }
    calls_.add(record.get(a::correlation), start, waited);
    new_calls_.push_back({record.get(a::correlation), thread, start});
    if (new_calls_.size() == kMostNewCalls) find_phases();
}

std::optional<SweptOp> ProcessTotals::op_in(const cupti::Record& record, const OpFields& fields) {
    constexpr DurNs kMostAhead = 60'000'000'000;  // of the last reading of the clock, which is about a second old
    constexpr DurNs kMostLength = 1'000'000'000'000'000;  // twelve days
    SweptOp op{.start = static_cast<TimeNs>(record.get(fields.start)),
               .end = static_cast<TimeNs>(record.get(fields.end)),
               .call = record.get(fields.correlation),
               .device = static_cast<std::int32_t>(record.get(fields.device))};
    bool timed = op.start > 0 && op.end >= op.start;
    bool plausible = (clock_ <= 0 || op.end - kMostAhead < clock_) && op.end - op.start < kMostLength &&
                     op.device >= 0 && static_cast<std::size_t>(op.device) < kMaxDevices;
    if (timed && plausible) return op;
    lose(timed ? "implausible" : "untimed");
    return std::nullopt;
}

void ProcessTotals::add_kernel(Name& name, SweptOp op) {
    auto device = static_cast<std::size_t>(op.device);
    if (name.places.size() <= device) name.places.resize(device + 1, kNoPlace);
    std::size_t& place = name.places[device];
    if (place == kNoPlace) place = job_->kernel(totals(), name.text.empty() ? "(unnamed)" : name.text, op.device);
    totals().kernels[place].runs.add(op.end - op.start);
    op.kind = name.collective ? SweptOp::collective : SweptOp::compute;
    op.kernel = static_cast<std::uint32_t>(place);
    devices_[op.device].add(op, calls_, totals());
}

void ProcessTotals::add_graph(std::uint32_t graph, const std::optional<SweptOp>& op) {
    if (!op) return;
    Name& name = graphs_[graph];
    if (name.text.empty()) name.text = fmt::format("CUDA graph {}", graph);
    add_kernel(name, *op);
}

void ProcessTotals::add_copy(std::string_view kind, std::uint64_t bytes, const std::optional<SweptOp>& op) {
    if (!op) return;
    CopyTotal& total = totals().copies[totals().copy(kind, op->device)];
    ++total.count;
    total.bytes += bytes;
    total.total += op->end - op->start;
    SweptOp copy = *op;
    copy.kind = SweptOp::copy;
    devices_[op->device].add(copy, calls_, totals());
}

void ProcessTotals::add_device(const cupti::Record& record) {
    std::uint32_t device = record.get(cupti::device::id);
    if (device >= kMaxDevices || record.bytes().size() < cupti::device::uuid + 16) return;
    totals().device(static_cast<std::int32_t>(device)).uuid = uuid_text(record.bytes().substr(cupti::device::uuid, 16));
}

void ProcessTotals::find_phases() {
    for (const NewCall& call : new_calls_)
        calls_.set_phase(call.id, phases_.at(call.thread, call.start - clock_ahead_, totals()));
    new_calls_.clear();
}

void ProcessTotals::sweep(bool last) {
    find_phases();
    constexpr DurNs kSameClock = 3600'000'000'000;
    for (auto& [device, sweep] : devices_) {
        DeviceTotal& total = totals().device(device);
        DurNs behind = clock_ - sweep.latest();
        TimeNs now = behind > 0 && behind < kSameClock ? clock_ : sweep.latest();
        sweep.sweep(last ? sweep.latest() + 1 : now - DeviceSweep::kWindow, calls_, totals(), total);
        if (last) sweep.finish(total);
    }
}

}  // namespace gpuprof::cli
