#include "core/importers/torch/flight_dump.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "core/base/rank_list.h"
#include "core/importers/torch/values.h"

namespace gpuprof::torch {
namespace {

constexpr std::size_t kMaxKeys = 256;                          // of an entry; real ones have 25
constexpr std::size_t kMaxStackBytes = std::size_t{64} << 20;  // of all stacks: lists of frames may be shared
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

// The number of elements of tensors with these sizes.
template <class View>
std::optional<std::int64_t> elements_of(const View& sizes) {
    if (!sizes.is_list()) return std::nullopt;
    std::int64_t all = 0;
    bool sound = true;
    sizes.each([&](const View& tensor) {
        std::int64_t product = 1;
        tensor.each([&](const View& size) {
            std::int64_t length = size.integer().value_or(-1);
            sound = sound && length >= 0 && (product == 0 || length <= kMaxElements / product);
            if (sound) product *= length;
            return sound;
        });
        sound = sound && tensor.is_list() && all <= kMaxElements - product;
        if (sound) all += product;
        return sound;
    });
    return sound ? std::optional(all) : std::nullopt;
}

template <class View>
class Reader {
public:
    Reader(StringId process, Batch& batch, MemoryLimit& limit, std::uint64_t besides)
        : process_(process), batch_(batch), limit_(limit), besides_(besides) {}

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
        std::optional<RecordedRanks> recorded = parse_recorded_ranks(group["ranks"].text());
        if (!recorded || !recorded->whole() || recorded->listed.empty()) return true;
        Group found;
        found.ranks = recorded->sorted();
        found.text = format_ranks(found.ranks);
        if (group["desc"].text() == "default_pg" || (group["name"].text() == "0" && dump_.world_size == 0))
            dump_.world_size = static_cast<std::int64_t>(found.ranks.size());
        besides_ += found.text.size() + found.ranks.size() * sizeof(std::int32_t);
        groups_.try_emplace(std::string(group["name"].text()), std::move(found));
        return !(dump_.over_limit = limit_.is_below(bytes_of(batch_) + besides_));
    }

    void take_entry(const View& entry) {
        std::string_view name = entry["profiling_name"].text();
        if (!entry.is_dictionary() || entry.size() > kMaxKeys || name.empty())
            return batch_.lose(Loss::missing_field, "entries: profiling_name");
        if ((dump_.over_limit = limit_.is_below(batch_, besides_))) return;
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
        besides_ += sizeof place;
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
        std::string_view texts[2] = {group.text(), {}};
        std::size_t at = 0;
        group.each([&](const View& part) { return texts[at++] = part.text(), at < 2; });
        return {texts[0], texts[1] == "undefined" ? std::string_view() : texts[1]};
    }

    void put_group(Row row, const View& entry) {
        CollectiveTable& table = batch_.tables.collective;
        auto [name, description] = group_texts(entry);
        if (!name.empty()) table.group.set(row, batch_.intern(name));
        if (!description.empty()) table.group_description.set(row, batch_.intern(description));
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

    void put_message(Row row, const View& entry) {
        CollectiveTable& table = batch_.tables.collective;
        if (auto elements = elements_of(entry["input_sizes"])) table.in_elements.set(row, *elements);
        if (auto elements = elements_of(entry["output_sizes"])) table.out_elements.set(row, *elements);
        std::string_view type;
        for (std::string_view key : {"input_dtypes", "output_dtypes"})
            if (type.empty()) entry[key].each([&](const View& first) { return type = first.text(), false; });
        if (!type.empty()) table.type.set(row, batch_.intern(type));
    }

    // Gloo's entries stay scheduled: they are retired when their work has ended, and when it begins is not recorded.
    static std::string_view state_of(const View& entry, std::string_view backend) {
        if (backend != "gloo") return entry["state"].text();
        return entry["retired"].truth() ? "completed" : "called";
    }

    void put_state(Row row, const View& entry, std::string_view state) {
        CollectiveTable& table = batch_.tables.collective;
        if (!state.empty()) table.state.set(row, batch_.intern(state));
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
        put_length(table.duration, "duration_ms");
        put_length(table.timeout, "timeout_ms");
    }

    void put_stack(Row row, const View& frames) {
        if (!frames.is_list() || stack_bytes_ >= kMaxStackBytes) return;
        std::optional<std::string> text = stack_text(frames, kMaxStackBytes - stack_bytes_);
        if (!text) {
            stack_bytes_ = kMaxStackBytes;
            return batch_.lose(Loss::too_deep, "frames");
        }
        stack_bytes_ += text->size();
        if (!text->empty()) batch_.tables.collective.stack.set(row, batch_.intern(*text));
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
    MemoryLimit& limit_;
    std::uint64_t besides_;
    FlightDump dump_;
    std::map<std::string, Group, std::less<>> groups_;  // by name
    std::vector<Place> places_;                         // not yet known to be part of a batch that ended
    std::size_t stack_bytes_ = 0;
};

}  // namespace

FlightDump read_flight_dump(const Pickle& pickle, StringId process, Batch& batch, MemoryLimit& limit,
                            std::uint64_t besides) {
    return Reader<PickleView>(process, batch, limit, besides).read(PickleView(pickle, pickle.root()));
}

FlightDump read_flight_dump(const simdjson::dom::element& root, StringId process, Batch& batch, MemoryLimit& limit,
                            std::uint64_t besides) {
    return Reader<JsonView>(process, batch, limit, besides).read(JsonView(root));
}

}  // namespace gpuprof::torch
