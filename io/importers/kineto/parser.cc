#include "io/importers/kineto/parser.h"

#include <limits>
#include <string_view>

#include "io/importers/kineto/block.h"
#include "io/importers/kineto/event.h"
#include "io/importers/kineto/key_table.h"
#include "io/importers/kineto/kineto_number.h"
#include "io/importers/kineto/members.h"
#include "io/importers/kineto/row_writer.h"
#include "io/importers/kineto/scan.h"

namespace gpuprof::inline importers::kineto {
namespace {

// The members of a trace's outermost object other than "traceEvents": device properties, the job, the time base, and
// facts about the recording, which become `meta` rows under their keys (members of an object as object.member).

enum class Property {
    id,
    name,
    memory,
    major,
    minor,
    threads_block,
    threads_sm,
    registers_block,
    registers_sm,
    warp,
    shared_block,
    shared_sm,
    shared_optin,
    sms,
    uuid,
    unknown
};

// Keys of one entry of "deviceProperties"; ROCm spells the shared memory of a compute unit differently.
constexpr KeyName<Property> kPropertyNames[] = {
    {"id", Property::id},
    {"name", Property::name},
    {"totalGlobalMem", Property::memory},
    {"computeMajor", Property::major},
    {"computeMinor", Property::minor},
    {"maxThreadsPerBlock", Property::threads_block},
    {"maxThreadsPerMultiprocessor", Property::threads_sm},
    {"regsPerBlock", Property::registers_block},
    {"regsPerMultiprocessor", Property::registers_sm},
    {"warpSize", Property::warp},
    {"sharedMemPerBlock", Property::shared_block},
    {"sharedMemPerMultiprocessor", Property::shared_sm},
    {"maxSharedMemoryPerMultiProcessor", Property::shared_sm},
    {"sharedMemPerBlockOptin", Property::shared_optin},
    {"numSms", Property::sms},
    {"smCount", Property::sms},
    {"uuid", Property::uuid},
};
constexpr KeyTable kProperties(kPropertyNames);

std::string_view vendor_of(std::string_view name) {
    for (std::string_view mark : {"AMD", "Radeon", "Instinct", "gfx"})
        if (name.find(mark) != std::string_view::npos) return "amd";
    if (name.find("Intel") != std::string_view::npos) return "intel";
    for (std::string_view mark :
         {"NVIDIA", "Tesla", "GeForce", "Quadro", "TITAN", "RTX", "A100", "V100", "H100", "A10", "A30", "A40", "T4"})
        if (name.find(mark) != std::string_view::npos) return "nvidia";
    return {};
}

void put_name(DeviceTable& device, Row row, const RawValue& value, Batch& rows) {
    std::string scratch;
    bool clean = true;
    std::string_view name = decode_string(value, scratch, clean);
    device.name.set(row, rows.intern(name));
    if (std::string_view vendor = vendor_of(name); !vendor.empty()) device.vendor.set(row, rows.intern(vendor));
}

template <class T>
void put_number(Column<T>& column, Row row, std::int64_t value) {
    if (column.size() > row || value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return;
    column.set(row, static_cast<T>(value));
}

void put_property(DeviceTable& device, Row row, Property property, const RawValue& value, Batch& rows) {
    if (property == Property::name && value.is_string() && device.name.size() <= row)
        return put_name(device, row, value, rows);
    if (property == Property::uuid && value.is_string() && device.uuid.size() <= row)
        return device.uuid.set(row, rows.intern(value.text()));
    std::int64_t n = 0;
    if (parse_integer(value.text(), n) != Number::ok) return;
    switch (property) {
        case Property::id: return put_number(device.device, row, n);
        case Property::memory: return put_number(device.memory_bytes, row, n);
        case Property::major: return put_number(device.cc_major, row, n);
        case Property::minor: return put_number(device.cc_minor, row, n);
        case Property::threads_block: return put_number(device.max_threads_per_block, row, n);
        case Property::threads_sm: return put_number(device.max_threads_per_sm, row, n);
        case Property::registers_block: return put_number(device.registers_per_block, row, n);
        case Property::registers_sm: return put_number(device.registers_per_sm, row, n);
        case Property::warp: return put_number(device.warp_size, row, n);
        case Property::shared_block: return put_number(device.shared_bytes_per_block, row, n);
        case Property::shared_sm: return put_number(device.shared_bytes_per_sm, row, n);
        case Property::shared_optin: return put_number(device.shared_bytes_per_block_optin, row, n);
        case Property::sms: return put_number(device.sms, row, n);
        default: return;
    }
}

// Scans the values of the object or array `value`, which scan_nested accepted, and passes each to visit(key, value).
template <class Visit>
void each_member(const RawValue& value, Visit visit) {
    const char* p = value.begin;
    if (value.kind != ValueKind::nested || *p != '{') return;
    (void)scan_members(p, value.end, [&](const RawValue& key) {
        RawValue member;
        bool too_deep = false;
        Scan scan = scan_value(p, value.end, member, too_deep);
        if (scan == Scan::ok) visit(key.text(), member);
        return scan;
    });
}

// The same for the elements of an array that are objects or arrays: visit(element).
template <class Visit>
void each_entry(const RawValue& value, Visit visit) {
    const char* p = value.begin;
    if (value.kind != ValueKind::nested || *p != '[') return;
    (void)scan_elements(p, value.end, [&] {
        RawValue entry;
        bool too_deep = false;
        Scan scan = scan_value(p, value.end, entry, too_deep);
        if (scan == Scan::ok && entry.kind == ValueKind::nested) visit(entry);
        return scan;
    });
}

void read_devices(const RawValue& value, Batch& rows) {
    each_entry(value, [&](const RawValue& entry) {
        DeviceTable& device = rows.tables.device;
        Row row = device.add();
        // Paddle, which writes smCount, cuts the memory to 32 bits.
        bool paddle = false;
        each_member(entry, [&](std::string_view key, const RawValue&) { paddle |= key == "smCount"; });
        each_member(entry, [&](std::string_view key, const RawValue& member) {
            Property property = kProperties.find(key, Property::unknown);
            if (!paddle || property != Property::memory) put_property(device, row, property, member, rows);
        });
    });
}

std::string text_of(const RawValue& value) {
    std::string scratch;
    bool clean = true;
    return std::string(value.is_string() ? decode_string(value, scratch, clean) : value.text());
}

void add_meta(std::string_view key, const RawValue& value, Batch& rows) {
    MetaTable& meta = rows.tables.meta;
    Row row = meta.add();
    meta.key.set(row, rows.intern(key));
    meta.value.set(row, rows.intern(text_of(value)));
}

// Whether the value is an integer, which is then stored in `into`.
bool take_integer(const RawValue& value, std::optional<std::int64_t>& into) {
    std::int64_t n = 0;
    bool ok = parse_integer(value.text(), n) == Number::ok;
    if (ok) into = n;
    return ok;
}

void read_groups(const RawValue& value, Block& block) {
    each_entry(value, [&](const RawValue& entry) {
        GroupEntry group;
        each_member(entry, [&](std::string_view key, const RawValue& member) {
            if (key == "pg_name") group.name = text_of(member);
            if (key == "ranks") group.ranks = text_of(member);
            if (key == "pg_size") (void)take_integer(member, group.size);
        });
        block.groups.push_back(std::move(group));
    });
}

bool read_job(const RawValue& value, Block& block) {
    bool ok = true;
    each_member(value, [&](std::string_view key, const RawValue& member) {
        if (key == "rank") ok &= take_integer(member, block.rank);
        if (key == "world_size") ok &= take_integer(member, block.world_size);
        if (key == "pg_config") read_groups(member, block);
        add_meta("distributedInfo." + std::string(key), member, block.rows);
    });
    return ok;
}

// Takes one member. Members that it does not know become meta unchanged. False if a required number is invalid, which
// is then left absent.
bool read_header_member(std::string_view key, const RawValue& value, Block& block) {
    if (key == "deviceProperties") {
        read_devices(value, block.rows);
        return true;
    }
    if (key == "distributedInfo") return read_job(value, block);
    if (key == "host_name" && value.is_string()) block.host = text_of(value);
    if (key == "span_indx" || key == "SpanNumber") block.paddle = true;
    add_meta(key, value, block.rows);
    return key != "baseTimeNanoseconds" || take_integer(value, block.base_time);
}

class PieceParser {
public:
    PieceParser(std::string_view file, const Piece& piece, State state, Block& block)
        : piece_(piece), p_(piece.begin), end_(piece.end), state_(state), block_(block), rows_(file, block) {}

    std::size_t run() {
        while (step()) {
        }
        return static_cast<std::size_t>(p_ - piece_.begin);
    }
    State state() const { return state_; }

private:
    // Takes one item; false if the piece has no more.
    bool step() {
        if (state_ == State::lost) return find_next();
        p_ = skip_space(p_, end_);
        while (p_ < end_ && *p_ == ',' && state_ != State::start && state_ != State::after)
            p_ = skip_space(p_ + 1, end_);
        if (p_ >= end_) {
            p_ = end_;
            return false;
        }
        switch (state_) {
            case State::start: return start();
            case State::header: return header_item();
            case State::events: return event_item();
            default: return broken(p_);
        }
    }

    bool start() {
        constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
        if (std::string_view{p_, static_cast<std::size_t>(end_ - p_)}.starts_with(kByteOrderMark))
            p_ = skip_space(p_ + 3, end_);
        if (p_ >= end_ || (*p_ != '{' && *p_ != '[')) return broken(p_);
        block_.is_object = *p_ == '{';
        block_.has_events = *p_ == '[';
        state_ = *p_++ == '{' ? State::header : State::events;
        return true;
    }

    bool header_item() {
        const char* item = p_;
        if (*p_ == '}') {
            ++p_;
            state_ = State::after;
            return true;
        }
        RawValue key, value;
        Scan scan = scan_key(p_, end_, key);
        if (scan == Scan::ok && *p_ == '[' && key.text() == "traceEvents") {
            ++p_;
            state_ = State::events;
            block_.has_events = true;
            return true;
        }
        bool too_deep = false;
        if (scan == Scan::ok) scan = scan_value(p_, end_, value, too_deep);
        if (scan != Scan::ok || too_long(item)) return failed(item, scan);
        if (too_deep) rows_.lose(Loss::too_deep, offset_of(item));
        if (!too_deep && !read_header_member(key.text(), value, block_)) rows_.lose(Loss::bad_number, offset_of(item));
        return true;
    }

    bool event_item() {
        const char* item = p_;
        if (*p_ == ']') {
            ++p_;
            state_ = State::header;
            return true;
        }
        if (*p_ != '{') return foreign_item();
        Scan scan = read_event(p_, end_, event_);
        if (scan != Scan::ok || too_long(item)) return failed(item, scan);
        rows_.write(event_, offset_of(item));
        return true;
    }

    // Something between events that is not an event.
    bool foreign_item() {
        const char* item = p_;
        RawValue value;
        bool too_deep = false;
        Scan scan = scan_value(p_, end_, value, too_deep);
        if (scan != Scan::ok) return failed(item, scan);
        rows_.lose(Loss::malformed_event, offset_of(item));
        return true;
    }

    bool too_long(const char* item) const { return static_cast<std::size_t>(p_ - item) > kMaxItem; }

    bool failed(const char* item, Scan scan) {
        if (scan != Scan::cut_off) return broken(item);
        if (piece_.last) {
            rows_.lose(Loss::truncated, offset_of(item));
            block_.cut_off = true;
            p_ = end_;
            return false;
        }
        if (static_cast<std::size_t>(end_ - item) > kMaxItem) return broken(item);
        p_ = item;
        return false;
    }

    bool broken(const char* item) {
        rows_.lose(Loss::malformed_event, offset_of(item));
        p_ = item + 1;
        state_ = State::lost;
        return true;
    }

    // Looks for the next event, or for the end of the events.
    bool find_next() {
        for (const char* at = p_; at < end_; ++at) {
            at = find_stop(at, end_, nesting_stops);
            if (at >= end_) break;
            if (*at != '{' && *at != ']') continue;
            // Near the end of a piece, the next bytes are needed to decide.
            if (!piece_.last && end_ - at <= kEventPrefix) return stop_at(at);
            char before = last_visible(piece_.begin, at, piece_.before);
            if (looks_like_event(before, at, end_)) return go_on_at(at, State::events);
            if (*at == ']' && before == '}' && looks_like_end(at)) return go_on_at(at + 1, State::header);
        }
        return stop_at(end_);
    }
    bool go_on_at(const char* at, State state) {
        p_ = at;
        state_ = state;
        return true;
    }
    bool stop_at(const char* at) {
        p_ = at;
        return false;
    }
    // Whether a brace, or a comma and a key, follow the bracket.
    bool looks_like_end(const char* at) const {
        const char* limit = end_ - at > kEventPrefix ? at + kEventPrefix : end_;
        const char* after = skip_space(at + 1, limit);
        if (after < limit && *after == ',') {
            after = skip_space(after + 1, limit);
            return after < limit && *after == '"';
        }
        return after < limit && *after == '}';
    }

    std::uint64_t offset_of(const char* at) const {
        return piece_.offset + static_cast<std::uint64_t>(at - piece_.begin);
    }

    Piece piece_;
    const char* p_;
    const char* end_;
    State state_;
    Block& block_;
    RowWriter rows_;
    Event event_;
};

}  // namespace

std::size_t parse_piece(std::string_view file, const Piece& piece, State& state, Block& block) {
    PieceParser parser(file, piece, state, block);
    std::size_t used = parser.run();
    state = parser.state();
    return used;
}

const char* find_cut(const char* begin, const char* end) {
    for (const char* at = end; at > begin;) {
        const void* brace = memrchr(begin, '{', static_cast<std::size_t>(at - begin));
        if (brace == nullptr) break;
        at = static_cast<const char*>(brace);
        if (at > begin && looks_like_event(last_visible(begin, at, ','), at, end)) return at;
    }
    return end;
}

}  // namespace gpuprof::importers::kineto
