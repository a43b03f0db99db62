#include "io/importers/torch/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/files/sink.h"
#include "io/importers/row_values.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/torch/values.h"

namespace gpuprof::inline importers::torch {

// How an entry of the history changes the bytes in use and the bytes allocated from the driver.
struct Action {
    std::string_view name;
    int allocated, reserved;
    bool is_event;
};

namespace {

constexpr std::int64_t kMaxBlockBytes = std::int64_t{1}
                                        << 52;  // bytes; no device has more, and sums stay far from overflow
constexpr std::int64_t kMaxTime_us = std::int64_t{1} << 51;  // us
constexpr std::size_t kMostMetadata = 4096;                  // bytes of what a program says about an allocation

constexpr Action kActions[] = {
    {"alloc", 1, 0, true},           {"free_requested", -1, 0, true}, {"free_completed", 0, 0, false},
    {"segment_alloc", 0, 1, false},  {"segment_free", 0, -1, false},  {"segment_map", 0, 1, false},
    {"segment_unmap", 0, -1, false}, {"snapshot", 0, 0, false},       {"oom", 0, 0, false}};

const Action* action_of(std::string_view name) {
    for (const Action& action : kActions)
        if (action.name == name) return &action;
    return nullptr;
}

// The block size that the allocator looks for, for a request of this size. It may take a larger block: of large blocks
// it does not split off a remainder below 1 MiB. Source: c10/cuda/CUDACachingAllocator.cpp, round_size.
std::int64_t rounded(std::int64_t asked) {
    constexpr std::int64_t kMinBlock = 512;
    return std::max(kMinBlock, (asked + kMinBlock - 1) / kMinBlock * kMinBlock);
}

std::string_view without_line_end(std::string_view json) {
    if (json.ends_with('\n')) json.remove_suffix(1);
    return json;
}

bool is_bytes(const PickleValue& value) {
    return value.kind == PickleValue::Kind::integer && value.bits >= 0 && value.bits < kMaxBlockBytes;
}

}  // namespace

// Asked before each row; checks once in a thousand calls.
bool Snapshot::has_room() {
    if (++rows_ % 1024 == 0) over_limit_ = over_limit_ || bytes_of(batch_) > max_bytes_;
    return !over_limit_;
}

bool Snapshot::read() {
    PickleValue segments = pickle_.find(pickle_.root(), "segments"),
                traces = pickle_.find(pickle_.root(), "device_traces");
    // Before PyTorch 2.1 a snapshot may be only the list of segments.
    if (pickle_.root().kind == PickleValue::Kind::list) segments = pickle_.root();
    if (segments.kind != PickleValue::Kind::list) return false;
    for (const PickleValue& segment : pickle_.items(segments)) read_segment(segment);
    std::int32_t device = 0;
    for (const PickleValue& events : pickle_.items(traces)) read_history(device++, events);
    read_settings();
    if (!pickle_.cut().empty()) batch_.lose(Loss::truncated, pickle_.cut());
    std::size_t unread = pickle_.items(pickle_.find(pickle_.root(), "external_annotations")).size();
    if (unread > 0) batch_.lose(Loss::unread_table, "external_annotations", unread);
    return true;
}

void Snapshot::read_segment(const PickleValue& segment) {
    PickleValue size = pickle_.find(segment, "total_size"), blocks = pickle_.find(segment, "blocks");
    auto device = Pickle::integer(pickle_.find(segment, "device"));
    if (!is_bytes(size) || blocks.kind != PickleValue::Kind::list) return batch_.lose(Loss::missing_field, "segments");
    if (device && *device >= 0 && *device < 4096) live_[static_cast<std::int32_t>(*device)].reserved += size.bits;
    std::int64_t address = Pickle::integer(pickle_.find(segment, "address")).value_or(0);
    for (const PickleValue& block : pickle_.items(blocks))
        if (!pickle_.is_open(block) && has_room()) read_block(segment, block, address);
}

// `address` is the block's position if the block does not store it, and advances to the next one.
void Snapshot::read_block(const PickleValue& segment, const PickleValue& block, std::int64_t& address) {
    PickleValue size = pickle_.find(block, "size"), asked = pickle_.find(block, "requested_size");
    if (!is_bytes(size)) return batch_.lose(Loss::missing_field, "blocks");
    address = Pickle::integer(pickle_.find(block, "address")).value_or(address);
    std::string_view state = pickle_.text(pickle_.find(block, "state"));
    if (state == "active_awaiting_free") state = "active_pending_free";  // its name in the allocator's code
    MemoryBlockTable& table = batch_.tables.memory_block;
    Row row = table.add();
    auto device = Pickle::integer(pickle_.find(segment, "device"));
    bool known_device = device && *device >= 0 && *device < 4096;
    if (known_device) table.device.set(row, static_cast<std::int32_t>(*device));
    set_known(table.segment, row, Pickle::integer(pickle_.find(segment, "address")));
    table.segment_bytes.set(row, pickle_.find(segment, "total_size").bits);
    table.address.set(row, address);
    table.bytes.set(row, size.bits);
    if (state != "inactive" && is_bytes(asked)) table.requested_bytes.set(row, asked.bits);
    set_text(batch_, table.state, row, state);
    set_known(table.stream, row, Pickle::integer(pickle_.find(segment, "stream")));
    PickleValue frames = pickle_.find(block, "frames");
    // Before PyTorch 2.1: under the first entry of the block's own history.
    if (auto history = pickle_.items(pickle_.find(block, "history")); !history.empty() && pickle_.items(frames).empty())
        frames = pickle_.find(history[0], "frames");
    set_known(table.stack, row, stack_of(frames));
    if (known_device && state == "active_allocated") {
        Live& live = live_[static_cast<std::int32_t>(*device)];
        live.allocated += size.bits;
        live.blocks[address] = size.bits;
    }
    address = static_cast<std::int64_t>(static_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(size.bits));
}

// What the entries of a history do; null for entries without an effect.
std::vector<const Action*> Snapshot::actions_of(std::span<const PickleValue> entries) {
    std::vector<const Action*> actions;
    for (const PickleValue& entry : entries) {
        actions.push_back(nullptr);
        if (!has_room()) break;
        if (pickle_.is_open(entry)) continue;
        // The allocator's own allocations, each with its release: not the program's.
        PickleValue own = pickle_.find(entry, "internal_metadata");
        if (own.kind != PickleValue::Kind::none &&
            (own.kind != PickleValue::Kind::text || !pickle_.text(own).empty())) {
            batch_.lose_named(Loss::recorder_work, "", "internal_metadata");
            continue;
        }
        const Action* action = action_of(pickle_.text(pickle_.find(entry, "action")));
        bool sized = is_bytes(pickle_.find(entry, "size"));
        if (action == nullptr) batch_.lose(Loss::unknown_event, "device_traces");
        if (action != nullptr && !sized) batch_.lose(Loss::missing_field, "device_traces");
        if (action != nullptr && sized) actions.back() = action;
    }
    return actions;
}

// The block size of each allocation and release: from the snapshot if the block still exists, otherwise the request as
// rounded by the allocator. A release returns the size of its allocation.
std::vector<std::int64_t> Snapshot::block_sizes(std::span<const PickleValue> entries,
                                                const std::vector<const Action*>& actions, const Live& live) const {
    std::vector<std::int64_t> sizes(entries.size(), 0);
    std::unordered_map<std::int64_t, std::size_t> open;  // the allocation at an address
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (actions[i] == nullptr || !actions[i]->is_event) continue;
        sizes[i] = rounded(pickle_.find(entries[i], "size").bits);
        auto address = Pickle::integer(pickle_.find(entries[i], "addr"));
        if (!address) continue;
        if (actions[i]->allocated > 0) {
            open[*address] = i;
        } else if (auto made = open.find(*address); made != open.end()) {
            sizes[i] = sizes[made->second];
            open.erase(made);
        }
    }
    for (auto [address, i] : open)
        if (auto block = live.blocks.find(address); block != live.blocks.end()) sizes[i] = block->second;
    return sizes;
}

void Snapshot::read_history(std::int32_t device, const PickleValue& events) {
    std::span<const PickleValue> entries = pickle_.items(events);
    Live& live = live_[device];
    std::vector<const Action*> actions = actions_of(entries);
    if (over_limit_) return;
    std::vector<std::int64_t> blocks = block_sizes(entries, actions, live);
    std::int64_t allocated = live.allocated, reserved = live.reserved;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (actions[i] == nullptr) continue;
        allocated -= actions[i]->allocated * blocks[i];
        reserved -= actions[i]->reserved * pickle_.find(entries[i], "size").bits;
    }
    // Below zero, the history and the blocks are not from the same time, so the totals are unknown.
    bool cut = pickle_.is_open(events);  // the last entries, from which totals are counted backwards, are missing
    bool sound = !cut && allocated >= 0 && reserved >= 0;
    if (!entries.empty() && !sound && !cut) batch_.lose(Loss::bad_number, "device_traces: totals");
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (actions[i] == nullptr) continue;
        if (!has_room()) return;
        std::int64_t size = pickle_.find(entries[i], "size").bits;
        allocated += actions[i]->allocated * blocks[i];
        reserved += actions[i]->reserved * size;
        if (actions[i]->name == "oom")
            batch_.lose(Loss::recorder_warning, fmt::format("out of memory: {} bytes requested", size));
        if (!actions[i]->is_event) continue;
        Row row = write_event(device, entries[i]);
        MemoryEventTable& table = batch_.tables.memory_event;
        table.bytes.set(row, actions[i]->allocated * size);
        table.block_bytes.set(row, actions[i]->allocated * blocks[i]);
        if (!sound) continue;
        table.total_allocated.set(row, allocated);
        table.total_reserved.set(row, reserved);
    }
}

// Everything but the sizes.
Row Snapshot::write_event(std::int32_t device, const PickleValue& entry) {
    constexpr std::int32_t kCuda = 1;
    MemoryEventTable& table = batch_.tables.memory_event;
    Row row = table.add();
    auto time = Pickle::integer(pickle_.find(entry, "time_us"));
    if (time && *time > 0 && *time < kMaxTime_us) table.time.set(row, *time * 1000);
    table.device_type.set(row, kCuda);
    table.device.set(row, device);
    set_known(table.address, row, Pickle::integer(pickle_.find(entry, "addr")));
    set_known(table.stream, row, Pickle::integer(pickle_.find(entry, "stream")));
    set_known(table.stack, row, stack_of(pickle_.find(entry, "frames")));
    const std::pair<std::string_view, Column<StringId>*> texts[] = {{"user_metadata", &table.user_metadata},
                                                                    {"compile_context", &table.compile_context}};
    for (auto [key, column] : texts) {
        PickleValue value = pickle_.find(entry, key);
        std::string_view plain = pickle_.text(value);
        if (value.kind == PickleValue::Kind::none || (value.kind == PickleValue::Kind::text && plain.empty())) continue;
        StringSink text;
        JsonWriter json(text);
        std::size_t room = kMostMetadata;
        if (!write_json(value, json, room, 0))
            batch_.lose(Loss::too_deep, key);
        else
            column->set(row, batch_.intern(plain.empty() ? without_line_end(text.text()) : plain));
    }
    // A pair of numbers, (0, 0) for the default pool.
    std::span<const PickleValue> pool = pickle_.items(pickle_.find(entry, "pool_id"));
    if (pool.size() != 2) pool = pickle_.items(pickle_.find(entry, "segment_pool_id"));
    if (pool.size() == 2) {
        auto first = Pickle::integer(pool[0]), second = Pickle::integer(pool[1]);
        if (first && second && (*first != 0 || *second != 0))
            table.pool.set(row, batch_.intern(fmt::format("{}:{}", *first, *second)));
    }
    return row;
}

// False if it would be too long or too deep: a pickle may refer to a value many times, or within itself.
bool Snapshot::write_json(const PickleValue& value, JsonWriter& json, std::size_t& room, int depth) const {
    constexpr int kMostLevels = 8;
    using Kind = PickleValue::Kind;
    constexpr std::size_t kBytesOfValue = 8;
    std::size_t needed = kBytesOfValue + pickle_.text(value).size();
    if (room < needed || depth > kMostLevels) return false;
    room -= needed;
    std::span<const PickleValue> items = pickle_.items(value);
    switch (value.kind) {
        case Kind::text: json.text(pickle_.text(value)); return true;
        case Kind::integer: json.integer(value.bits); return true;
        case Kind::boolean: json.boolean(value.bits != 0); return true;
        case Kind::real: json.real(std::bit_cast<double>(value.bits)); return true;
        case Kind::none:
        case Kind::bytes: json.null(); return true;
        case Kind::dictionary:
            json.begin_object();
            for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
                auto number = Pickle::integer(items[i]);
                json.key(number ? fmt::format("{}", *number) : std::string(pickle_.text(items[i]).substr(0, 256)));
                if (!write_json(items[i + 1], json, room, depth + 1)) return false;
            }
            json.end_object();
            return true;
        default: break;
    }
    json.begin_array();
    for (const PickleValue& item : items)
        if (!write_json(item, json, room, depth + 1)) return false;
    json.end_array();
    return true;
}

void Snapshot::read_settings() {
    PickleValue settings = pickle_.find(pickle_.root(), "allocator_settings");
    std::string_view text = pickle_.text(pickle_.find(settings, "PYTORCH_CUDA_ALLOC_CONF"));
    if (text.empty()) return;
    Row row = batch_.tables.meta.add();
    batch_.tables.meta.key.set(row, batch_.intern("PYTORCH_CUDA_ALLOC_CONF"));
    batch_.tables.meta.value.set(row, batch_.intern(text));
}

// The file has the innermost frame first.
StringId Snapshot::stack_of(const PickleValue& frames) {
    if (frames.kind != PickleValue::Kind::list || pickle_.items(frames).empty()) return kNoString;
    auto [known, added] = stacks_.try_emplace(frames.bits, kNoString);
    if (!added) return known->second;
    std::optional<std::string> text = stack_text(PickleView(pickle_, frames), stack_room_);
    if (!text) {
        stack_room_ = 0;
        batch_.lose(Loss::too_deep, "frames");
        return kNoString;
    }
    stack_room_ -= std::min(stack_room_, text->size());
    return known->second = batch_.intern(*text);
}

}  // namespace gpuprof::importers::torch
