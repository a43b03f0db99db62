#include "io/importers/torch/flight_dump.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/text/rank_list.h"
#include "io/importers/row_values.h"
#include "io/importers/torch/values.h"

namespace gpuprof::inline importers::torch {
namespace {

constexpr std::size_t kMaxKeys = 256;  // of an entry; real ones have 25
// Texts of stacks: a small file may refer to one frame any number of times.
constexpr std::uint64_t kMaxStackBytes = std::uint64_t{16} << 20, kStackBytesPerByte = 64;
constexpr std::uint64_t kGroupBytesPerByte = 64;  // many groups may share a list of ranks
constexpr std::size_t kMaxNameBytes = 1024;       // a text may be shared by all entries, and each is looked up
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
constexpr TimeNs kMaxTime = TimeNs{1} << 61;

// "1->2" or "2<-1", numbers in the group: sender and receiver.
std::optional<std::pair<std::int32_t, std::int32_t>> ends_of(std::string_view text) {
    std::int32_t first = 0, second = 0;
    const char* end = text.data() + text.size();
    auto read = std::from_chars(text.data(), end, first);
    if (read.ec != std::errc{} || end - read.ptr < 3) return std::nullopt;
    std::string_view arrow(read.ptr, 2);
    auto last = std::from_chars(read.ptr + 2, end, second);
    if (last.ec != std::errc{} || last.ptr != end || first < 0 || second < 0) return std::nullopt;
    if (arrow == "->") return std::pair(first, second);
    if (arrow == "<-") return std::pair(second, first);
    return std::nullopt;
}

// A name; "" if it is longer than any real one.
template <class View>
std::string_view name_of(const View& value) {
    std::string_view text = value.text();
    return text.size() <= kMaxNameBytes ? text : std::string_view();
}

template <class View>
class Reader {
public:
    Reader(StringId process, Batch& batch, const FlightLimits& limits)
        : process_(process),
          batch_(batch),
          limits_(limits),
          stack_room_(kMaxStackBytes + std::min(kStackBytesPerByte * limits.file_bytes, limits.memory.bytes() / 4)),
          sizes_left_(limits.file_bytes),
          groups_left_(kGroupBytesPerByte * limits.file_bytes) {}

    FlightDump read(const View& root) {
        View entries = root["entries"];
        dump_.known = entries.is_list() || root["pg_config"].is_dictionary();
        dump_.version = root["version"].text();
        dump_.library = root["comm_lib_version"].text();
        root["pg_config"].each_pair([&](std::string_view, const View& group) { return take_group(group); });
        entries.each([&](const View& entry) {
            if (!entry.is_open()) take_entry(entry);
            return !dump_.over_limit;
        });
        // A rank that has called nothing has no entries; one whose recorder kept nothing has none either.
        if (entries.size() == 0)
            root["pg_status"].each_pair([&](std::string_view, const View& status) {
                std::int64_t called = status["last_enqueued_collective"].integer().value_or(0);
                if (called > 0 && called < kMaxElements) dump_.lost += static_cast<std::uint64_t>(called);
                return true;
            });
        return std::move(dump_);
    }

private:
    struct Group {
        std::string text;  // of its ranks, compact
        RankList ranks;
    };
    // Which batch an entry may be part of.
    struct Place {
        Row row;
        std::string_view group;
        bool pair;
        std::optional<std::int64_t> seq;
        bool same_batch(const Place& other) const {
            return group == other.group && pair == other.pair && seq && seq == other.seq;
        }
    };

    bool take_group(const View& group) {
        std::string_view text = group["ranks"].text(), name = name_of(group["name"]);
        if (text.size() > groups_left_) {
            batch_.lose(Loss::cut_ranks, "pg_config");
            return false;
        }
        groups_left_ -= text.size();
        std::optional<RecordedRanks> recorded = parse_recorded_ranks(text);
        if (!recorded || !recorded->whole() || recorded->listed.empty()) return true;
        Group found;
        found.ranks = recorded->sorted();
        found.text = format_ranks(found.ranks);
        if (group["desc"].text() == "default_pg" || (name == "0" && dump_.world_size == 0))
            dump_.world_size = static_cast<std::int64_t>(found.ranks.size());
        limits_.other_bytes += found.text.size() + found.ranks.size() * sizeof(std::int32_t);
        groups_.try_emplace(std::string(name), std::move(found));
        return !(dump_.over_limit = limits_.memory.is_below(bytes_of(batch_) + limits_.other_bytes));
    }

    void take_entry(const View& entry) {
        std::string_view name = name_of(entry["profiling_name"]);
        if (!entry.is_dictionary() || entry.size() > kMaxKeys || name.empty())
            return batch_.lose(Loss::missing_field, "entries: profiling_name");
        if (std::optional<std::int64_t> identity = entry.identity(); identity && !seen_.insert(*identity).second)
            return batch_.lose(Loss::malformed_event, "entries: one of them twice");
        if ((dump_.over_limit = limits_.memory.is_below(batch_, limits_.other_bytes))) return;
        std::size_t colon = name.find(':'), space = name.find(' ');
        std::string_view ends = space == name.npos ? std::string_view() : name.substr(space + 1);
        name = name.substr(0, space);
        std::string_view backend = colon < name.size() ? name.substr(0, colon) : std::string_view();
        if (!backend.empty()) name.remove_prefix(colon + 1);
        std::string_view state = state_of(entry, backend);
        Place place = place_of(entry, name);
        if (name.ends_with("coalesced")) end_batch(place, state);
        // The end of a batch of sends and receives is no transfer itself.
        if (name == "coalesced" && place.pair) return;
        CollectiveTable& table = batch_.tables.collective;
        place.row = table.add();
        table.process.set(place.row, process_);
        table.name.set(place.row, batch_.intern(name));
        if (place.seq) table.seq.set(place.row, *place.seq);
        put_group(place.row, entry);
        put_ends(place.row, ends, entry);
        put_message(place.row, entry);
        put_state(place.row, entry, state);
        put_stack(place.row, entry["frames"]);
        if (std::optional<std::int64_t> call = entry["record_id"].integer()) {
            if (place.row == 0 && *call > 0) dump_.lost = static_cast<std::uint64_t>(*call);
            table.call.set(place.row, *call);
        }
        places_.push_back(place);
        limits_.other_bytes += sizeof place;
    }

    // Without the row.
    Place place_of(const View& entry, std::string_view name) const {
        std::string_view group = group_texts(entry).name;
        std::optional<std::int64_t> pairs = entry["p2p_seq_id"].integer();
        bool after_pair =
            !places_.empty() && places_.back().pair && places_.back().group == group && places_.back().seq == pairs;
        bool pair = name == "send" || name == "recv" || entry["is_p2p"].truth() || (name == "coalesced" && after_pair);
        std::optional<std::int64_t> seq = pair ? pairs : entry["collective_seq_id"].integer();
        return {kNoRow, group, pair, seq ? seq : entry["seq_id"].integer()};
    }

    struct GroupTexts {
        std::string_view name, description;
    };
    // (name, description), or the name alone.
    static GroupTexts group_texts(const View& entry) {
        View group = entry["process_group"];
        std::string_view texts[2] = {name_of(group), {}};
        std::size_t at = 0;
        group.each([&](const View& part) { return texts[at++] = name_of(part), at < 2; });
        return {texts[0], texts[1] == "undefined" ? std::string_view() : texts[1]};
    }

    void put_group(Row row, const View& entry) {
        CollectiveTable& table = batch_.tables.collective;
        auto [name, description] = group_texts(entry);
        set_text(batch_, table.group, row, name);
        set_text(batch_, table.group_description, row, description);
        auto known = groups_.find(name);
        if (known == groups_.end()) return;
        table.ranks.set(row, batch_.intern(known->second.text));
        table.group_size.set(row, static_cast<std::int64_t>(known->second.ranks.size()));
    }

    // Numbers in the group become ranks of the job.
    void put_ends(Row row, std::string_view text, const View& entry) {
        auto ends = ends_of(text);
        if (!ends) return;
        auto known = groups_.find(group_texts(entry).name);
        if (known == groups_.end()) return;
        const RankList& ranks = known->second.ranks;
        auto [from, to] = *ends;
        if (static_cast<std::size_t>(std::max(from, to)) >= ranks.size()) return;
        batch_.tables.collective.src_rank.set(row, ranks[static_cast<std::size_t>(from)]);
        batch_.tables.collective.dst_rank.set(row, ranks[static_cast<std::size_t>(to)]);
    }

    // The number of elements of tensors with these sizes. Lists of sizes may be shared, so the work is bounded.
    std::optional<std::int64_t> elements_of(const View& sizes) {
        if (!sizes.is_list()) return std::nullopt;
        std::int64_t all = 0;
        bool sound = true;
        sizes.each([&](const View& tensor) {
            std::int64_t product = 1;
            tensor.each([&](const View& size) {
                std::int64_t length = size.integer().value_or(-1);
                sound = sound && take_size() && length >= 0 && (product == 0 || length <= kMaxElements / product);
                if (sound) product *= length;
                return sound;
            });
            sound = sound && take_size() && tensor.is_list() && all <= kMaxElements - product;
            if (sound) all += product;
            return sound;
        });
        return sound ? std::optional(all) : std::nullopt;
    }
    bool take_size() { return sizes_left_ > 0 && (--sizes_left_, true); }

    void put_message(Row row, const View& entry) {
        CollectiveTable& table = batch_.tables.collective;
        set_known(table.in_elements, row, elements_of(entry["input_sizes"]));
        set_known(table.out_elements, row, elements_of(entry["output_sizes"]));
        std::string_view type;
        for (std::string_view key : {"input_dtypes", "output_dtypes"})
            if (type.empty())
                entry[key].each([&](const View& first) {
                    type = name_of(first);
                    return false;
                });
        set_text(batch_, table.type, row, type);
    }

    // Gloo's entries stay scheduled: they are retired when their work has ended, and when it begins is not recorded.
    static std::string_view state_of(const View& entry, std::string_view backend) {
        if (backend != "gloo") return name_of(entry["state"]);
        return entry["retired"].truth() ? "completed" : "called";
    }

    void put_state(Row row, const View& entry, std::string_view state) {
        CollectiveTable& table = batch_.tables.collective;
        set_text(batch_, table.state, row, state);
        // JSON writes 0 for an unknown time.
        auto put_time = [&](Column<TimeNs>& column, std::string_view key) {
            std::optional<std::int64_t> time = entry[key].integer();
            if (time && *time > 0 && *time < kMaxTime) column.set(row, *time);
        };
        put_time(table.created_time, "time_created_ns");
        put_time(table.started_time, "time_discovered_started_ns");
        put_time(table.ended_time, "time_discovered_completed_ns");
        auto put_length = [&](Column<DurNs>& column, std::string_view key) {
            std::optional<double> ms = entry[key].real();
            if (ms && *ms >= 0 && *ms < 1e12) column.set(row, static_cast<DurNs>(*ms * 1e6));
        };
        put_length(table.exec_time, "duration_ms");
        put_length(table.timeout, "timeout_ms");
    }

    void put_stack(Row row, const View& frames) {
        if (!frames.is_list() || stack_room_ == 0) return;
        std::optional<std::int64_t> identity = frames.identity();
        auto known = identity ? stacks_.find(*identity) : stacks_.end();
        StringId stack = known != stacks_.end() ? known->second : make_stack(frames);
        if (identity) stacks_.try_emplace(*identity, stack);
        set_known(batch_.tables.collective.stack, row, stack);
    }
    StringId make_stack(const View& frames) {
        std::optional<std::string> text = stack_text(frames, stack_room_);
        if (!text) {
            stack_room_ = 0;
            batch_.lose(Loss::too_deep, "frames");
            return kNoString;
        }
        stack_room_ -= std::min<std::uint64_t>(stack_room_, text->size() + 1);
        return text->empty() ? kNoString : batch_.intern(*text);
    }

    // The entries just before `end` with its number are its parts.
    void end_batch(const Place& end, std::string_view state) {
        Column<StringId>& states = batch_.tables.collective.state;
        for (; !places_.empty() && places_.back().same_batch(end); places_.pop_back())
            if (Row part = places_.back().row; !state.empty() && part < states.size() && states.has(part))
                states.change(part, batch_.intern(state));
    }

    StringId process_;
    Batch& batch_;
    FlightLimits limits_;
    FlightDump dump_;
    std::map<std::string, Group, std::less<>> groups_;     // by name
    std::vector<Place> places_;                            // not yet known to be part of a batch that ended
    std::unordered_set<std::int64_t> seen_;                // entries
    std::unordered_map<std::int64_t, StringId> stacks_;    // by the list of frames
    std::uint64_t stack_room_, sizes_left_, groups_left_;  // bytes of stacks, sizes, bytes of lists of ranks
};

}  // namespace

FlightDump read_flight_dump(const Pickle& pickle, StringId process, Batch& batch, FlightLimits limits) {
    return Reader<PickleView>(process, batch, limits).read(PickleView(pickle, pickle.root()));
}

FlightDump read_flight_dump(const simdjson::dom::element& root, StringId process, Batch& batch, FlightLimits limits) {
    return Reader<JsonView>(process, batch, limits).read(JsonView(root));
}

}  // namespace gpuprof::importers::torch
