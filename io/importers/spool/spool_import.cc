#include "io/importers/spool/spool_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/text/function_name.h"
#include "core/format/bytes.h"
#include "core/schema/meta_keys.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers {
namespace {

using spool::NameSpace;

std::string_view text_of(ByteCursor& cursor) { return cursor.take(cursor.u32()); }

// The facts of a spool_process chunk.
std::map<std::string_view, std::string_view> facts_in(std::string_view payload) {
    std::map<std::string_view, std::string_view> facts;
    each_pair(payload, [&](std::string_view key, std::string_view value) { facts[key] = value; });
    return facts;
}

}  // namespace

std::string SpoolDecoder::where(const RawChunk& chunk) const { return fmt::format("{}: byte {}", file_, chunk.offset); }

SpoolDecoder::SpoolDecoder(Batch& batch, std::string file, CodeFiles code)
    : batch_(batch), file_(std::move(file)), code_(code), annotations_(batch), first_(batch.tables) {}

bool SpoolDecoder::takes(const ChunkHeader& header) {
    for (ChunkKind kind :
         {ChunkKind::spool_process,       ChunkKind::spool_activity,     ChunkKind::spool_names,
          ChunkKind::spool_nvtx,          ChunkKind::spool_clock,        ChunkKind::spool_lost,
          ChunkKind::spool_refused,       ChunkKind::spool_facts,        ChunkKind::spool_windows,
          ChunkKind::spool_steps,         ChunkKind::spool_counter_note, ChunkKind::spool_counter_image,
          ChunkKind::spool_counter_skips, ChunkKind::spool_counter_hung, ChunkKind::spool_cubin,
          ChunkKind::spool_stall_reasons, ChunkKind::spool_stall_read,   ChunkKind::spool_stall_failure,
          ChunkKind::spool_sass_counts,   ChunkKind::spool_graph_nodes})
        if (header.is(kind)) return true;
    return false;
}

void SpoolDecoder::take(const RawChunk& chunk) {
    std::string_view payload = chunk.bytes();
    bool sound = true;
    if (chunk.header.is(ChunkKind::spool_process))
        take_process(payload);
    else if (chunk.header.is(ChunkKind::spool_activity))
        sound = take_activity(payload);
    else if (chunk.header.is(ChunkKind::spool_names))
        sound = take_names(payload);
    else if (chunk.header.is(ChunkKind::spool_nvtx))
        sound = take_host_events(payload);
    else if (chunk.header.is(ChunkKind::spool_clock))
        sound = take_clock(payload);
    else if (chunk.header.is(ChunkKind::spool_lost))
        sound = take_lost(payload);
    else if (chunk.header.is(ChunkKind::spool_facts))
        sound = take_facts(payload);
    else if (chunk.header.is(ChunkKind::spool_windows))
        sound = take_windows(payload);
    else if (chunk.header.is(ChunkKind::spool_graph_nodes))
        sound = graph_nodes_.take(payload);
    else if (chunk.header.is(ChunkKind::spool_steps))
        sound = steps_.take(payload);
    else if (chunk.header.is(ChunkKind::spool_refused))
        batch_.lose(Loss::recorder_refused, payload);
    // Counters are evaluated by CUPTI in a process of the launcher, and samples attributed to source lines there; both
    // become parts of their own.
    if (!sound) batch_.lose(Loss::damaged_chunk, where(chunk));
}

bool SpoolDecoder::is_continued_by(std::string_view process) const {
    auto facts = facts_in(process);
    return !first_part_.empty() && facts["first_part"] == first_part_ && facts["pid"] == pid_;
}

// If parts in between are gone, what was open then ended at an unknown time.
void SpoolDecoder::continue_with(std::uint64_t part) {
    if (part != part_ + 1) annotations_.interrupt(last_time_);
    if (part > part_ + 1) missing_parts_ += part - part_ - 1;
    part_ = part;
}

void SpoolDecoder::take_process(std::string_view payload) {
    auto facts = facts_in(payload);
    std::uint64_t part = std::strtoull(std::string(facts["part"]).c_str(), nullptr, 10);
    if (is_continued_by(payload)) return continue_with(part);
    pid_ = facts["pid"];
    first_part_ = facts["first_part"];
    part_ = part;
    process_ = fmt::format("{}:{}", facts["host"], facts["pid"]);
    process_key_ = batch_.intern(process_);
    boot_id_ = facts["boot_id"];
    ProcessTable& table = batch_.tables.process;
    Row row = table.add();
    auto text = [&](Column<StringId>& column, std::string_view key) {
        if (!facts[key].empty()) column.set(row, batch_.intern(facts[key]));
    };
    auto number = [&](Column<std::int64_t>& column, std::string_view key) {
        if (!facts[key].empty()) column.set(row, std::strtoll(std::string(facts[key]).c_str(), nullptr, 10));
    };
    table.key.set(row, process_key_);
    text(table.name, "program");
    text(table.command, "command");
    text(table.host, "host");
    number(table.pid, "pid");
    number(table.rank, "rank");
    number(table.world_size, "world_size");
    number(table.local_rank, "local_rank");
    number(table.node_rank, "node_rank");
    number(table.restart, "restart");
    text(table.launcher, "launcher");
    text(table.job, "job");
    text(table.boot_id, "boot_id");
}

bool SpoolDecoder::take_names(std::string_view payload) {
    ByteCursor cursor(payload);
    while (cursor.left() > 0 && cursor.ok()) {
        auto space = static_cast<NameSpace>(cursor.u8());
        std::uint64_t id = cursor.u64();
        std::string_view text = text_of(cursor);
        if (!cursor.ok()) return false;
        if (space == NameSpace::pointer)
            pointers_[id] = batch_.intern(demangled(text));
        else
            functions_[id << 8 | static_cast<std::uint8_t>(space)] = batch_.intern(cuda::without_version(text));
    }
    return cursor.ok();
}

bool SpoolDecoder::take_host_events(std::string_view payload) {
    ByteCursor cursor(payload);
    std::uint32_t thread = cursor.u32();
    bool sound = true;
    while (cursor.ok() && cursor.left() >= sizeof(std::uint32_t)) {
        std::string_view rest = payload.substr(payload.size() - cursor.left());
        std::uint32_t bytes = load_u32(rest.data());
        if (bytes < 8) return false;
        std::string_view whole = cursor.take(bytes);
        if (!cursor.ok()) return false;
        spool::HostEvent event{};
        if (bytes < sizeof event) continue;  // padding
        std::memcpy(&event, whole.data(), sizeof event);
        if (event.time == 0) continue;
        if (event.op == spool::HostEventOp::stream_call) {
            sound = take_stream_call(whole) && sound;
            continue;
        }
        if (static_cast<TimeNs>(event.time) < 0) return false;  // beyond any real clock
        std::string_view text;
        if (event.text_kind == spool::TextKind::inline_text) {
            if (event.text > bytes - sizeof event) return false;
            text = whole.substr(sizeof event, event.text);
        }
        if (event.op != spool::HostEventOp::reset) seen(static_cast<TimeNs>(event.time));
        if (event.op == spool::HostEventOp::thread_name) thread_key(static_cast<std::uint32_t>(event.range));
        if (event.op == spool::HostEventOp::stack_name)
            launch_stacks_.add_stack(event, text);
        else if (event.op == spool::HostEventOp::launch_stack)
            launch_stacks_.add_launch(event);
        else
            annotations_.add(thread, event, text);
    }
    return sound && cursor.ok();
}

bool SpoolDecoder::take_stream_call(std::string_view bytes) {
    spool::StreamCall call{};
    if (bytes.size() < sizeof call) return false;
    std::memcpy(&call, bytes.data(), sizeof call);
    if (static_cast<TimeNs>(call.time) < 0 || call.end < call.time || static_cast<TimeNs>(call.end) < 0) return false;
    stream_calls_.add(call);
    return true;
}

void SpoolDecoder::add_threads() {
    ThreadTable& table = batch_.tables.thread;
    for (const auto& [thread, key] : threads_) {
        Row row = table.add();
        table.key.set(row, key);
        table.process.set(row, process_key_);
        table.tid.set(row, thread);
        auto name = annotations_.thread_names().find(thread);
        if (name != annotations_.thread_names().end() && name->second != kNoString) table.name.set(row, name->second);
    }
    for (const auto& [stream, name] : annotations_.stream_names()) {
        Row row = batch_.tables.stream.add();
        batch_.tables.stream.process.set(row, process_key_);
        batch_.tables.stream.stream.set(row, stream);
        if (name != kNoString) batch_.tables.stream.name.set(row, name);
    }
}

bool SpoolDecoder::take_facts(std::string_view payload) {
    return each_pair(payload, [&](std::string_view key, std::string_view value) {
        facts_[std::string(key)] = value;
        if (key == meta_key::kRecorderThread)
            recorder_thread_ = static_cast<std::uint32_t>(std::strtoul(std::string(value).c_str(), nullptr, 10));
    });
}

// Facts of the recording become facts of the trace; those of several processes are listed together.
void SpoolDecoder::add_facts() {
    facts_.erase(meta_key::kRecorderThread);  // has no rows
    if (facts_.count(meta_key::kCallRecordNs) != 0 && recorder_calls_ == 0) {
        for (const char* key : {meta_key::kCallRecordNs, meta_key::kCallRecordLowNs, meta_key::kCallRecordHighNs})
            facts_.erase(key);
        facts_[meta_key::kCallRecordUnknown] = "the records of the calls that were timed are missing";
    }
    MetaTable& table = batch_.tables.meta;
    for (const auto& [key, value] : facts_) {
        Row row = table.add();
        table.key.set(row, batch_.intern(key));
        table.value.set(row, batch_.intern(value));
    }
}

bool SpoolDecoder::take_clock(std::string_view payload) {
    ByteCursor cursor(payload);
    auto realtime = static_cast<TimeNs>(cursor.u64());
    auto monotonic = static_cast<std::int64_t>(cursor.u64());
    auto device = static_cast<std::int64_t>(cursor.u64());
    if (!cursor.ok()) return false;
    seen(realtime);
    clocks_.push_back({realtime, monotonic, device});
    auto add = [&](std::string_view name, std::int64_t reading) {
        ClockTable& table = batch_.tables.clock;
        Row row = table.add();
        table.clock.set(row, batch_.intern(name));
        table.time.set(row, realtime);
        table.other.set(row, reading);
    };
    add("monotonic", monotonic);
    if (device != 0) add("cupti", device);
    return true;
}

bool SpoolDecoder::take_lost(std::string_view payload) {
    ByteCursor cursor(payload);
    while (cursor.left() > 0 && cursor.ok()) {
        auto reason = static_cast<spool::Lost>(cursor.u8());
        std::uint64_t count = cursor.u64();
        if (!cursor.ok()) break;
        lost_[reason] = count;
        lost_before_.try_emplace(reason, count);
    }
    return cursor.ok();
}

// A capture of the last minutes of a process has the losses of these, and of parts that were deleted between them.
void SpoolDecoder::forget_losses_before() {
    for (auto& [reason, count] : lost_) count -= std::min(count, lost_before_[reason]);
    if (missing_parts_ > 0)
        batch_.lose(Loss::recorder_loss,
                    fmt::format("{}: parts of process {} that nobody took in time", file_, process_), missing_parts_);
}

void SpoolDecoder::finish() {
    TimeNs last = last_time_;
    if (auto closed = facts_.find(meta_key::kWindowClosedAt); closed != facts_.end())
        last = std::min<TimeNs>(last, std::strtoll(closed->second.c_str(), nullptr, 10));
    only_windows_ = !first_part_.empty() && !windows_.empty();  // one that was chosen afterwards (record --keep-last)
    if (only_windows_) forget_losses_before();
    keep_only_steps();
    annotations_.finish(last, [this](std::uint32_t thread) { return thread_key(thread); });
    NativeNames names(code_, boot_id_, last_time_);
    graph_nodes_.finish(batch_, process_key_, launch_stacks_, names,
                        [this](std::uint32_t thread) { return thread_key(thread); });
    add_threads();
    add_facts();
    resolve_external();
    for (auto [event, correlation] : allocations_) name_allocator(event, correlation);
    launch_stacks_.finish(batch_, first_.api_call, std::move(names));
    batch_.tables.close();  // a column is as long as its table, even if the last rows have no value
    align_clocks();
    stream_calls_.finish(batch_, first_.sync, process_key_, [this](std::uint32_t call) { return call_of(call); });
    call_of_.clear();  // rows are dropped now
    leave_out_what_is_outside();
    count_left_out();
    for (const auto& [reason, count] : lost_)
        if (count > 0) batch_.lose(Loss::recorder_loss, fmt::format("{}: process {}", file_, process_), count);
}

StringId SpoolDecoder::thread_key(std::uint32_t thread) {
    auto [known, added] = threads_.try_emplace(thread, kNoString);
    if (added) known->second = batch_.intern(fmt::format("{}/{}", process_, thread));
    return known->second;
}

}  // namespace gpuprof::importers
