#include "io/importers/kineto/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/base/text/rank_list.h"
#include "io/importers/kineto/block.h"
#include "io/importers/kineto/event.h"

namespace gpuprof::inline importers::kineto {
namespace {

// What the collectives of a Kineto file can be given only once the whole file was read: the ranks of groups whose list
// was cut, and the keys that Kineto did not copy from the host's record to the kernel's.

// The rows of the host's records, by external id. The first of several with one id counts.
using HostRecords = std::unordered_map<std::int64_t, Row>;

HostRecords index_host_records(const CollectiveTable& collective) {
    HostRecords index;
    for (Row row = 0; row < collective.rows; ++row)
        if (!collective.correlation.has(row) && collective.external_id.has(row))
            index.emplace(collective.external_id[row], row);
    return index;
}

// The host's record of a kernel's collective; kNoRow if there is none.
Row host_record(const CollectiveTable& collective, const HostRecords& hosts, Row row) {
    if (!collective.correlation.has(row) || !collective.external_id.has(row)) return kNoRow;
    auto found = hosts.find(collective.external_id[row]);
    return found == hosts.end() || collective.name.get(found->second) != collective.name.get(row) ? kNoRow
                                                                                                  : found->second;
}

// Fills the absent values of kernels from their host's records.
template <class T>
void inherit(Column<T>& column, const CollectiveTable& collective, const HostRecords& hosts) {
    if (column.none_present() || column.all_present()) return;
    Column<T> filled;
    for (Row row = 0; row < collective.rows; ++row) {
        Row host = column.has(row) ? row : host_record(collective, hosts, row);
        if (host != kNoRow && column.has(host)) filled.set(row, column[host]);
    }
    filled.pad(collective.rows);
    column = std::move(filled);
}

// A group as a row describes it; absent parts are empty.
struct Claim {
    StringId ranks, name;
    std::optional<std::int64_t> size;
    auto operator<=>(const Claim&) const = default;
};

class Groups {
public:
    Groups(Batch& rows, std::span<const GroupEntry> entries) : rows_(rows) {
        for (const GroupEntry& entry : entries) {
            std::optional<RecordedRanks> recorded = parse_recorded_ranks(entry.ranks);
            if (!recorded || !recorded->whole() || recorded->listed.empty()) continue;
            auto size = static_cast<std::int64_t>(recorded->listed.size());
            if (entry.size.value_or(size) == size) by_name_.emplace(entry.name, recorded->sorted());
        }
    }

    // The compact text of the group, or kNoString.
    StringId resolve(const Claim& claim) {
        auto [known, added] = resolved_.try_emplace(claim, kNoString);
        if (added)
            if (std::optional<std::string> text = find(claim)) known->second = rows_.intern(*text);
        return known->second;
    }

private:
    std::optional<std::string> find(const Claim& claim) const {
        std::optional<RecordedRanks> recorded;
        if (claim.ranks != kNoString) {
            std::string_view text = rows_.strings[claim.ranks];
            if (!text.starts_with('[')) return std::string(text);  // complete already
            recorded = parse_recorded_ranks(text);
        }
        auto fits = [&](const RankList& ranks) {
            return claim.size.value_or(static_cast<std::int64_t>(ranks.size())) ==
                   static_cast<std::int64_t>(ranks.size());
        };
        if (recorded && recorded->whole()) {
            RankList ranks = recorded->sorted();
            return fits(ranks) ? std::optional(format_ranks(ranks)) : std::nullopt;
        }
        if (claim.name == kNoString) return std::nullopt;
        const RankList* only = nullptr;
        auto [begin, end] = by_name_.equal_range(rows_.strings[claim.name]);
        for (auto entry = begin; entry != end; ++entry) {
            const RankList& ranks = entry->second;
            if (!fits(ranks) || (recorded && !recorded->cut_from(ranks))) continue;
            if (only != nullptr && *only != ranks) return std::nullopt;  // two groups of one name
            only = &ranks;
        }
        return only == nullptr ? std::nullopt : std::optional(format_ranks(*only));
    }

    Batch& rows_;
    std::multimap<std::string, RankList, std::less<>> by_name_;
    std::map<Claim, StringId> resolved_;
};

// Lists of ranks become compact or absent.
void complete_ranks(Batch& rows, Groups& groups, const HostRecords& hosts, std::string_view file) {
    CollectiveTable& collective = rows.tables.collective;
    Column<StringId> completed;
    std::map<Claim, bool> lost;
    for (Row row = 0; row < collective.rows; ++row) {
        Claim claim{collective.ranks.value_or(row, kNoString), collective.group.value_or(row, kNoString),
                    collective.group_size.get(row)};
        StringId text = groups.resolve(claim);
        if (Row host = host_record(collective, hosts, row); text == kNoString && host != kNoRow)
            text = groups.resolve({collective.ranks.value_or(host, kNoString), claim.name, claim.size});
        if (text != kNoString)
            completed.set(row, text);
        else if (claim.ranks != kNoString && lost.emplace(claim, true).second)
            rows.lose(Loss::cut_ranks,
                      fmt::format("{}: group '{}'", file,
                                  claim.name == kNoString ? std::string_view() : rows.strings[claim.name]));
    }
    completed.pad(collective.rows);
    collective.ranks = std::move(completed);
}

// Completes the collectives of `rows`; `groups` are those of the header. Afterwards every text in `ranks` is compact
// (core/base/text/rank_list.h). Lists that cannot be completed are a loss with the first group's name.
void complete_groups(Batch& rows, std::span<const GroupEntry> groups, std::string_view file) {
    CollectiveTable& collective = rows.tables.collective;
    if (collective.rows == 0) return;
    collective.close();
    HostRecords hosts = index_host_records(collective);
    Groups known(rows, groups);
    complete_ranks(rows, known, hosts, file);
    inherit(collective.group_description, collective, hosts);
    inherit(collective.seq, collective, hosts);
    inherit(collective.instance, collective, hosts);
    inherit(collective.src_rank, collective, hosts);
    inherit(collective.dst_rank, collective, hosts);
    inherit(collective.is_async, collective, hosts);
}

}  // namespace

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
    note_devices(block);
    const Tables& late = block.late.tables;
    if (late.kernel.rows + late.memcpy.rows + late.memset.rows + late.collective.rows > 0) {
        block.late.tables.close();
        append_tables(rest_.tables, block.late.tables, rest_.strings.merge(block.late.strings));
    }
    for (const LaunchNote& note : block.notes) notes_.emplace(note.correlation, note);
    for (NameRecord& fact : block.names) names_.push_back(std::move(fact));
    if (block.profiler_span) profiler_span_ = block.profiler_span;
    if (block.base_time) base_time_ = block.base_time;
    if (block.rank) rank_ = block.rank;
    if (block.world_size) world_size_ = block.world_size;
    if (!block.host.empty()) host_ = std::move(block.host);
    for (GroupEntry& group : block.groups) groups_.push_back(std::move(group));
    is_object_ |= block.is_object;
    paddle_ |= block.paddle;
    has_events_ |= block.has_events;
    cut_off_ |= block.cut_off;
    events_ += block.events;
    labels_ += block.labels;
    foreign_ += block.foreign;
    number_launches(block.rows.tables);
    foreign_kinds_.add(block.rows.losses[static_cast<std::size_t>(Loss::unknown_event)]);
    builder_.append(std::move(block.rows));
}

void Assembly::note_devices(Block& block) {
    for (const Batch* rows : {&block.rows, &block.late}) {
        const Column<std::int32_t>& used = rows->tables.kernel.device;
        for (Row row = 0; row < used.size(); ++row)
            if (used.has(row) && (row == 0 || used[row] != used[row - 1])) used_devices_.insert(used[row]);
    }
    if (block.rows.tables.device.rows == 0) return;
    Tables described;
    described.device = block.rows.tables.device;
    described.close();
    append_tables(devices_.tables, described, devices_.strings.merge(block.rows.strings));
    block.rows.tables.device.clear();
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
    finish_devices();
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
    for (const NameRecord& fact : names_) {
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

// Events of ROCm number agents, CPUs first; the header numbers the GPUs, or gives each rank's as 0. If all GPUs are alike, any entry
// describes each; otherwise the number of CPUs must follow from the agents used, or no entry is assigned.
void Assembly::finish_devices() {
    DeviceTable& device = devices_.tables.device;
    std::set<std::int32_t> missing = used_devices_;
    bool rocm = false, alike = true;
    for (Row row = 0; row < device.rows; ++row) {
        missing.erase(device.device.value_or(row, -1));
        rocm |= device.warp_size.value_or(row, 0) == 64 ||
                devices_.strings[device.vendor.value_or(row, kNoString)] == "amd";
        alike &= device.name.get(row) == device.name.get(0) && device.sms.get(row) == device.sms.get(0) &&
                 device.memory_bytes.get(row) == device.memory_bytes.get(0) &&
                 device.cc_major.get(row) == device.cc_major.get(0) &&
                 device.cc_minor.get(row) == device.cc_minor.get(0);
    }
    auto entries = static_cast<std::int32_t>(device.rows);
    if (rocm && !missing.empty() && alike) {
        PodVector<Row> order;
        for (Row row = 0; row < device.rows; ++row) order.push_back(row);
        order.resize(order.size() + missing.size(), 0);
        device.each_column([&](const ColumnSpec&, auto& column) { column.gather(order); });
        device.rows = order.size();
        Row row = static_cast<Row>(entries);
        for (std::int32_t agent : missing) device.device.change(row++, agent);
        device.uuid.clear();
    } else if (rocm && !missing.empty()) {
        std::int32_t cpus = *used_devices_.rbegin() - (entries - 1);
        if (cpus == *used_devices_.begin())
            for (Row row = 0; row < device.rows; ++row) device.device.change(row, device.device[row] + cpus);
        else
            device.clear();
    }
    builder_.append(std::move(devices_));
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
    if (events_ > 0) builder_.set_tool(paddle_ ? "Paddle profiler" : "torch.profiler");
}

}  // namespace gpuprof::importers::kineto
