#include "io/importers/kineto/assembly.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/importers/kineto/event.h"
#include "io/importers/kineto/groups.h"

namespace gpuprof::inline importers::kineto {

void Assembly::take(ParsedPiece& piece) {
    end_offset_ = piece.offset + piece.bytes.size();
    bool guessed_right = piece.before == state_ && pending_.size() == 0;
    if (guessed_right) {
        accept(piece.block);
        state_ = piece.after;
        before_ = last_visible(piece.bytes.begin(), piece.bytes.begin() + piece.used, before_);
        pending_offset_ = piece.offset + piece.used;
        pending_.append(piece.bytes.begin() + piece.used, piece.bytes.size() - piece.used);
        wanted_ = 2 * pending_.size();
        return;
    }
    if (pending_.size() == 0) pending_offset_ = piece.offset;
    pending_.append(piece.bytes.begin(), piece.bytes.size());
    // Doubles each time, so that an item of many pieces is not scanned once per piece.
    if (pending_.size() < wanted_ && !piece.last) return;
    pending_.seal();
    Block block;
    block.skip_unselected(builder_.selected());
    Piece bytes{pending_.begin(), pending_.end(), pending_offset_, piece.last, before_};
    std::size_t used = parse_piece(file_, bytes, state_, block);
    accept(block);
    before_ = last_visible(pending_.begin(), pending_.begin() + used, before_);
    pending_offset_ += used;
    pending_.drop_front(used);
    wanted_ = std::min(2 * pending_.size(), kMaxItem + 1);
}

void Assembly::accept(Block& block) {
    for (const FlowEnd& end : block.flow_ends) take_flow_end(end, block.rows);
    note_threads(block);
    const Tables& late = block.late.tables;
    if (late.kernel.rows + late.memcpy.rows + late.memset.rows + late.collective.rows > 0) {
        block.late.tables.close();
        append_tables(rest_.tables, block.late.tables, rest_.strings.merge(block.late.strings));
    }
    for (const LaunchNote& note : block.notes) notes_.emplace(note.correlation, note);
    for (NameFact& fact : block.names) names_.push_back(std::move(fact));
    if (block.profiler_span) profiler_span_ = block.profiler_span;
    if (block.base_time) base_time_ = block.base_time;
    if (block.rank) rank_ = block.rank;
    if (block.world_size) world_size_ = block.world_size;
    if (!block.host.empty()) host_ = std::move(block.host);
    for (GroupEntry& group : block.groups) groups_.push_back(std::move(group));
    is_object_ |= block.is_object;
    has_events_ |= block.has_events;
    cut_off_ |= block.cut_off;
    events_ += block.events;
    labels_ += block.labels;
    foreign_ += block.foreign;
    number_launches(block.rows.tables);
    foreign_kinds_.add(block.rows.losses[static_cast<std::size_t>(Loss::unknown_event)]);
    builder_.append(std::move(block.rows));
}

// A block counts its measured launches from 0.
void Assembly::number_launches(Tables& tables) {
    for (Column<std::int64_t>* column : {&tables.profiled_kernel.launch, &tables.kernel_counter.launch})
        for (Row row = 0; row < column->size(); ++row)
            if (column->has(row)) column->change(row, (*column)[row] + launches_);
    launches_ += static_cast<std::int64_t>(tables.profiled_kernel.rows);
}

void Assembly::note_threads(const Block& block) {
    const Tables& tables = block.rows.tables;
    const StringPool& strings = block.rows.strings;
    for (Row row = 0; row < tables.thread.rows; ++row) threads_.emplace(strings[tables.thread.key[row]]);
    for (Row row = 0; row < tables.process.rows; ++row) {
        StringId key = tables.process.key[row];
        process_events_[std::string(strings[key])] += block.process_events[index_of(key)];
    }
}

// Arrow ends are matched by id; either one may come first in the file.
void Assembly::take_flow_end(const FlowEnd& end, const Batch& rows) {
    auto& partners = open_flows_[end.begins ? 0 : 1];
    auto partner = partners.find(end.id);
    StringId thread = rest_.intern(rows.strings[end.thread]);
    if (partner == partners.end()) {
        open_flows_[end.begins ? 1 : 0].insert_or_assign(end.id, FlowEnd{end.id, end.time, thread, end.begins});
        return;
    }
    FlowEnd here{end.id, end.time, thread, end.begins};
    const FlowEnd& from = end.begins ? here : partner->second;
    const FlowEnd& to = end.begins ? partner->second : here;
    FlowTable& flow = rest_.tables.flow;
    Row row = flow.add();
    flow.kind.set(row, rest_.intern("fwdbwd"));
    flow.from_time.set(row, from.time);
    flow.from_thread.set(row, from.thread);
    flow.to_time.set(row, to.time);
    flow.to_thread.set(row, to.thread);
    partners.erase(partner);
}

Status Assembly::finish() {
    if (!has_events_)
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot read {}: not a trace: no \"traceEvents\" in its {} bytes", file_, end_offset_)};
    if (events_ == labels_ && foreign_ > 0) {
        foreign_kinds_.place.clear();
        return Error{
            ExitCode::unreadable,
            fmt::format(
                "cannot read {}: not a GPU trace: its {} events are of kinds that gpu-profile does not read: {}; "
                "supported are traces of the PyTorch profiler",
                file_, foreign_, foreign_kinds_.text())};
    }
    // A bare array may end without its bracket (Chrome's trace event format allows it), an object may not.
    bool open_end = state_ == State::events || state_ == State::header;
    if (is_object_ && open_end && !cut_off_)
        builder_.lose(Loss::truncated, fmt::format("{}: byte {}", file_, end_offset_));
    finish_late_rows();
    complete_groups(rest_, groups_, file_);
    finish_flows();
    finish_names();
    finish_facts();
    builder_.append(std::move(rest_));
    return {};
}

// A column without a value can be filled from the first row again.
template <class T>
bool reopen(Column<T>& column) {
    if (!column.none_present() || column.is_skipped()) return false;
    column = Column<T>{};
    return true;
}

template <class Table, class T, class Value>
void Assembly::complete(const Table& table, Column<T>& column, Value value_of) {
    if (!reopen(column)) return;
    for (Row row = 0; row < table.rows; ++row) {
        auto note = table.correlation.has(row) ? notes_.find(table.correlation[row]) : notes_.end();
        std::optional<T> value = note == notes_.end() ? std::nullopt : value_of(note->second);
        if (value) column.set(row, *value);
    }
    column.pad(table.rows);
}

void Assembly::finish_late_rows() {
    KernelTable& kernel = rest_.tables.kernel;
    Column<std::int32_t>* grid[] = {&kernel.grid_x, &kernel.grid_y, &kernel.grid_z};
    Column<std::int32_t>* block[] = {&kernel.block_x, &kernel.block_y, &kernel.block_z};
    for (int i = 0; i < 3; ++i) complete(kernel, *grid[i], [i](const LaunchNote& note) { return note.grid[i]; });
    for (int i = 0; i < 3; ++i) complete(kernel, *block[i], [i](const LaunchNote& note) { return note.block[i]; });
    complete(kernel, kernel.shared_bytes, [](const LaunchNote& note) { return note.shared_bytes; });
    auto bytes = [](const LaunchNote& note) { return note.bytes; };
    complete(rest_.tables.memcpy, rest_.tables.memcpy.bytes, bytes);
    complete(rest_.tables.memset, rest_.tables.memset.bytes, bytes);
}

void Assembly::finish_flows() {
    std::size_t open = open_flows_[0].size() + open_flows_[1].size();
    if (open > 0) builder_.lose(Loss::unmatched_flow, std::string(file_), open);
}

// Names of processes and threads that have host events; Kineto names its pseudo-processes for devices too.
void Assembly::finish_names() {
    for (const NameFact& fact : names_) {
        if (fact.thread.empty() && process_events_.contains(fact.process)) {
            ProcessTable& process = rest_.tables.process;
            Row row = process.add();
            process.key.set(row, rest_.intern(fact.process));
            process.name.set(row, rest_.intern(fact.name));
        } else if (threads_.contains(fact.thread)) {
            ThreadTable& thread = rest_.tables.thread;
            Row row = thread.add();
            thread.key.set(row, rest_.intern(fact.thread));
            thread.name.set(row, rest_.intern(fact.name));
        }
    }
}

// The process with the most host events: the rank of the file is its rank.
std::string_view Assembly::main_process() const {
    std::string_view best;
    std::uint64_t most = 0;
    for (const auto& [key, events] : process_events_) {
        if (events <= most) continue;
        most = events;
        best = key;
    }
    return best;
}

void Assembly::finish_facts() {
    if (std::string_view key = main_process(); !key.empty() && (rank_ || world_size_ || !host_.empty())) {
        ProcessTable& process = rest_.tables.process;
        Row row = process.add();
        process.key.set(row, rest_.intern(key));
        if (rank_) process.rank.set(row, *rank_);
        if (world_size_) process.world_size.set(row, *world_size_);
        if (!host_.empty()) process.host.set(row, rest_.intern(host_));
    }
    TimeNs base = base_time_.value_or(0);
    if (base <= -kMaxTime || base >= kMaxTime) {
        builder_.lose(Loss::bad_number, fmt::format("{}: baseTimeNanoseconds {}", file_, base));
        base = 0;
    }
    builder_.set_time_base(base);
    if (profiler_span_) {
        builder_.set_meta("profiler_span_start_ns", std::to_string(profiler_span_->start + base));
        builder_.set_meta("profiler_span_dur_ns", std::to_string(profiler_span_->dur));
    }
    if (events_ > 0) builder_.set_tool("torch.profiler");
}

}  // namespace gpuprof::importers::kineto
