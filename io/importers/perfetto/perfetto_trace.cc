// Field numbers are those of protos/perfetto/trace and protos/perfetto/common of github.com/google/perfetto.
#include "io/importers/perfetto/perfetto_trace.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <cmath>

#include "io/importers/row_values.h"
#include "io/importers/source/protobuf.h"

namespace gpuprof::inline importers::perfetto {
namespace {

constexpr std::uint32_t kPacket = 1, kDeflated = 50, kZstd = 133;
constexpr std::uint32_t kRealtime = 1, kBoottime = 6, kFirstOwnClock = 64, kFirstSharedClock = 128;
constexpr std::int64_t kMaxTime = std::int64_t{1} << 61;
constexpr int kMaxDepth = 16;

std::optional<Unpacked> inflated(std::string_view data, std::uint64_t most) {
    Unpacked out;
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return std::nullopt;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    int code = Z_OK;
    char piece[1 << 14];
    while (code == Z_OK && out.size() <= most) {
        stream.next_out = reinterpret_cast<Bytef*>(piece);
        stream.avail_out = sizeof piece;
        code = inflate(&stream, Z_NO_FLUSH);
        out.append(piece, sizeof piece - stream.avail_out);
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END || out.size() > most ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Unpacked> unzstd(std::string_view data, std::uint64_t most) {
    Unpacked out;
    ZSTD_DStream* stream = ZSTD_createDStream();
    if (stream == nullptr) throw std::bad_alloc();
    ZSTD_inBuffer in{data.data(), data.size(), 0};
    char piece[1 << 14];
    std::size_t hint = 1;
    while (hint != 0 && ZSTD_isError(hint) == 0 && out.size() <= most) {
        ZSTD_outBuffer to{piece, sizeof piece, 0};
        hint = ZSTD_decompressStream(stream, &to, &in);
        out.append(piece, to.pos);
        if (in.pos == in.size && to.pos < sizeof piece) break;
    }
    ZSTD_freeDStream(stream);
    return hint == 0 || out.size() > most ? std::optional(std::move(out)) : std::nullopt;
}

// One entry of interned data: its id, and the text in a field.
void take_name(std::string_view entry, std::unordered_map<std::uint64_t, std::string_view>& names, std::uint32_t field,
               std::uint32_t better = 0) {
    ProtobufFields fields(entry);
    std::uint64_t id = 0;
    std::string_view text;
    bool best = false;
    while (fields.next()) {
        if (fields.number() == 1) id = fields.value();
        if (fields.number() == field && !best) text = fields.bytes();
        if (better != 0 && fields.number() == better) text = fields.bytes(), best = true;
    }
    names[id] = text;
}

std::string_view name_in(const std::unordered_map<std::uint64_t, std::string_view>& names, std::uint64_t id) {
    auto known = names.find(id);
    return known == names.end() ? std::string_view() : known->second;
}

std::string json_text(std::string_view text) {
    std::string json = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') json += '\\';
        json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return json + '"';
}

void take_dimensions(std::string_view message, std::optional<std::int64_t> (&to)[3]) {
    ProtobufFields fields(message);
    while (fields.next())
        if (fields.number() >= 1 && fields.number() <= 3) to[fields.number() - 1] = fields.integer();
}

}  // namespace

std::optional<std::int64_t> Event::number(std::string_view key) const {
    const Note* note = find(key);
    if (note == nullptr) return std::nullopt;
    if (note->number) return note->number;
    return number_in<std::int64_t>(note->text);
}

struct PerfettoTrace::Packet {
    std::uint64_t timestamp = 0, sequence = 0;
    std::optional<std::uint32_t> clock;
    std::uint32_t flags = 0;
    bool timed = false;
    std::string_view event, stage, counters, interned, snapshot, defaults, stats;

    explicit Packet(std::string_view message) {
        ProtobufFields fields(message);
        while (fields.next()) switch (fields.number()) {
                case 6: snapshot = fields.bytes(); break;
                case 8: timestamp = fields.value(), timed = true; break;
                case 10: sequence = fields.value(); break;
                case 11: event = fields.bytes(); break;
                case 12: interned = fields.bytes(); break;
                case 13: flags = static_cast<std::uint32_t>(fields.value()); break;
                case 35: stats = fields.bytes(); break;
                case 42: dropped = fields.value() != 0; break;
                case 52: counters = fields.bytes(); break;
                case 53: stage = fields.bytes(); break;
                case 58: clock = static_cast<std::uint32_t>(fields.value()); break;
                case 59: defaults = fields.bytes(); break;
                default: break;
            }
        damaged = fields.damaged();
    }
    bool dropped = false, damaged = false;
};

bool PerfettoTrace::unpack(std::string_view packed, std::uint32_t field, std::uint64_t& left) {
    std::optional<Unpacked> plain = field == kZstd ? unzstd(packed, left) : inflated(packed, left);
    if (!plain) {
        losses_.lose(Loss::bad_compression, "a compressed packet");
        return true;
    }
    if (plain->size() > left) return false;
    left -= plain->size();
    unpacked_.push_back(std::move(*plain));
    ProtobufFields inner({unpacked_.back().data(), unpacked_.back().size()});
    while (inner.next())
        if (inner.number() == kPacket && inner.is_bytes()) packets_.push_back(inner.bytes());
    if (inner.damaged()) losses_.lose(Loss::truncated, "a compressed packet");
    return true;
}

bool PerfettoTrace::open(std::uint64_t most) {
    std::uint64_t left = most;
    ProtobufFields trace(bytes_);
    while (trace.next()) {
        if (trace.number() != kPacket || !trace.is_bytes()) continue;
        std::string_view packet = trace.bytes();
        std::uint32_t packed = 0;
        std::string_view content;
        ProtobufFields fields(packet);
        while (fields.next())
            if (fields.number() == kDeflated || fields.number() == kZstd)
                packed = fields.number(), content = fields.bytes();
        if (packed == 0)
            packets_.push_back(packet);
        else if (!unpack(content, packed, left))
            return false;
        if (packets_.size() * sizeof packets_[0] > left) return false;
    }
    if (trace.damaged()) losses_.lose(Loss::truncated, "a Perfetto trace");
    for (std::string_view packet : packets_) {
        ProtobufFields fields(packet);
        while (fields.next()) switch (fields.number()) {
                case 10: sequence_ids_.insert(fields.value()); break;
                case 11:
                case 12: note_categories(packet); break;
                case 60: describe(fields.bytes()); break;
                default: break;
            }
    }
    return true;
}

// Of interned data and of events that carry their categories as text.
void PerfettoTrace::note_categories(std::string_view packet) {
    constexpr std::size_t kMostCategories = 4096;
    auto add = [&](std::string_view name) {
        if (categories_.size() < kMostCategories) categories_.emplace(name);
    };
    ProtobufFields fields(packet);
    while (fields.next()) {
        ProtobufFields inner(fields.number() == 11 || fields.number() == 12 ? fields.bytes() : std::string_view());
        while (inner.next()) {
            if (fields.number() == 11 && inner.number() == 22) add(inner.bytes());
            bool specification = inner.number() == 24;
            if (fields.number() != 12 || (inner.number() != 1 && !specification)) continue;
            ProtobufFields entry(inner.bytes());
            while (entry.next()) {
                if (entry.number() == 2 && !specification) add(entry.bytes());
                // Other producers have stages of their own names.
                if (entry.number() == 2 && specification && entry.bytes() == "Kernel") stages_ = true;
            }
        }
    }
}

void PerfettoTrace::describe(std::string_view descriptor) {
    Track track;
    std::uint64_t uuid = 0;
    ProtobufFields fields(descriptor);
    auto text = [](std::string_view bytes) { return std::string(bytes.substr(0, 4096)); };
    while (fields.next()) switch (fields.number()) {
            case 1: uuid = fields.value(); break;
            case 2:
            case 10:
            case 13: track.name = text(fields.bytes()); break;
            case 3: {
                ProtobufFields process(fields.bytes());
                while (process.next()) {
                    if (process.number() == 1) track.pid = static_cast<std::int32_t>(process.value());
                    if (process.number() == 6) track.process_name = text(process.bytes());
                }
                break;
            }
            case 4: {
                ProtobufFields thread(fields.bytes());
                while (thread.next()) {
                    if (thread.number() == 1) track.pid = static_cast<std::int32_t>(thread.value());
                    if (thread.number() == 2) track.tid = thread.integer();
                    if (thread.number() == 5) track.thread_name = text(thread.bytes());
                }
                break;
            }
            case 5: track.parent = fields.value(); break;
            case 8: {
                constexpr std::string_view kUnits[] = {"", "ns", "count", "bytes"};
                track.multiplier = 1;
                ProtobufFields counter(fields.bytes());
                while (counter.next()) {
                    if (counter.number() == 3 && counter.value() < std::size(kUnits))
                        track.unit = kUnits[counter.value()];
                    if (counter.number() == 4) track.multiplier = static_cast<double>(counter.integer());
                    if (counter.number() == 6) track.unit = text(counter.bytes());
                }
                break;
            }
            default: break;
        }
    tracks_.insert_or_assign(uuid, std::move(track));
}

void PerfettoTrace::take_interned(std::string_view data, Sequence& sequence) {
    ProtobufFields fields(data);
    while (fields.next()) switch (fields.number()) {
            case 1: take_name(fields.bytes(), sequence.categories, 2); break;
            case 2: take_name(fields.bytes(), sequence.names, 2); break;
            case 3: take_name(fields.bytes(), sequence.keys, 2); break;
            case 24: take_name(fields.bytes(), sequence.specifications, 2); break;
            case 29: take_name(fields.bytes(), sequence.texts, 2); break;
            case 47: take_name(fields.bytes(), sequence.counters, 2); break;  // a message
            case 1000: take_name(fields.bytes(), sequence.kernels, 2, 3); break;
            case 1001: take_name(fields.bytes(), sequence.arguments, 2); break;
            default: break;
        }
}

// The boot clock is that of the trace. The first snapshot says what wall time that is: later ones would change durations.
void PerfettoTrace::take_snapshot(std::string_view snapshot, std::uint64_t sequence) {
    struct Reading {
        std::uint32_t id = 0;
        std::int64_t time = 0, unit = 1;
        bool incremental = false;
    };
    std::vector<Reading> readings;
    ProtobufFields fields(snapshot);
    while (fields.next()) {
        if (fields.number() != 1) continue;
        Reading reading;
        ProtobufFields clock(fields.bytes());
        while (clock.next()) {
            if (clock.number() == 1) reading.id = static_cast<std::uint32_t>(clock.value());
            if (clock.number() == 2) reading.time = clock.integer();
            if (clock.number() == 3) reading.incremental = clock.value() != 0;
            if (clock.number() == 4) reading.unit = std::max<std::int64_t>(1, clock.integer());
        }
        std::int64_t time = 0;
        bool near = !__builtin_mul_overflow(reading.time, reading.unit, &time) && time > -kMaxTime && time < kMaxTime;
        if (near) readings.push_back({reading.id, time, reading.unit, reading.incremental});
    }
    const Reading* boot = nullptr;
    for (const Reading& reading : readings)
        if (reading.id == kBoottime) boot = &reading;
    if (boot == nullptr) return;
    for (const Reading& reading : readings) {
        if (reading.id == kRealtime && !wall_ && reading.time > 0) wall_ = reading.time - boot->time;
        bool own = reading.id >= kFirstOwnClock && reading.id < kFirstSharedClock;
        clocks_[{own ? sequence : 0, reading.id}] = {boot->time - reading.time, reading.time, reading.unit,
                                                     reading.incremental};
    }
}

void PerfettoTrace::take_defaults(std::string_view defaults, Sequence& sequence) {
    sequence.clock = kBoottime;
    sequence.track = 0;
    ProtobufFields fields(defaults);
    while (fields.next()) {
        if (fields.number() == 58) sequence.clock = static_cast<std::uint32_t>(fields.value());
        if (fields.number() != 11) continue;
        ProtobufFields event(fields.bytes());
        while (event.next())
            if (event.number() == 11) sequence.track = event.value();
    }
}

// Chunks that were overwritten or discarded in a buffer, and packets that never reached one.
void PerfettoTrace::take_stats(std::string_view stats) {
    std::uint64_t lost = 0;
    ProtobufFields fields(stats);
    while (fields.next()) {
        if (fields.number() != 1) continue;
        ProtobufFields buffer(fields.bytes());
        while (buffer.next())
            if (buffer.number() == 3 || buffer.number() == 18 || buffer.number() == 19) lost += buffer.value();
    }
    if (lost > 0) losses_.lose(Loss::recorder_loss, "chunks that Perfetto's buffers lost", lost);
}

std::optional<TimeNs> PerfettoTrace::time_of(const Packet& packet, const Sequence& sequence) {
    std::uint32_t id = packet.clock.value_or(sequence.clock);
    bool own = id >= kFirstOwnClock && id < kFirstSharedClock;
    std::int64_t time = 0;
    auto known = clocks_.find({own ? packet.sequence : 0, id});
    if (known == clocks_.end()) {
        if (id >= kFirstOwnClock) return std::nullopt;
        time = static_cast<std::int64_t>(packet.timestamp);
    } else {
        Clock& clock = known->second;
        std::int64_t read = 0, from = clock.incremental ? clock.last : 0;
        if (packet.timestamp > static_cast<std::uint64_t>(kMaxTime) ||
            __builtin_mul_overflow(static_cast<std::int64_t>(packet.timestamp), clock.unit, &read) ||
            __builtin_add_overflow(read, from, &read))
            return std::nullopt;
        if (clock.incremental) clock.last = read;
        if (__builtin_add_overflow(read, clock.offset, &time)) return std::nullopt;
    }
    if (__builtin_add_overflow(time, wall_.value_or(0), &time)) return std::nullopt;
    return time > -kMaxTime && time < kMaxTime ? std::optional(time) : std::nullopt;
}

void PerfettoTrace::read(Receiver& receiver) {
    constexpr std::uint32_t kCleared = 1, kNeedsState = 2;
    for (std::string_view message : packets_)
        if (Packet packet(message); !packet.snapshot.empty() && !wall_) take_snapshot(packet.snapshot, packet.sequence);
    clocks_.clear();
    for (std::string_view message : packets_) {
        Packet packet(message);
        if (packet.damaged) {
            losses_.lose(Loss::malformed_event, "a packet");
            continue;
        }
        Sequence& sequence = sequences_[packet.sequence];
        if (packet.dropped) ++dropped_;
        if ((packet.flags & kCleared) != 0) {
            sequence = Sequence();
            sequence.valid = true;
        }
        if (!packet.stats.empty()) take_stats(packet.stats);
        if (!packet.snapshot.empty()) take_snapshot(packet.snapshot, packet.sequence);
        if (!packet.defaults.empty()) take_defaults(packet.defaults, sequence);
        bool of_use = !packet.event.empty() || !packet.stage.empty() || !packet.counters.empty();
        if ((packet.flags & kNeedsState) != 0 && !sequence.valid) {
            if (of_use) ++without_state_;
            continue;
        }
        if (!packet.interned.empty()) take_interned(packet.interned, sequence);
        if (!of_use && !packet.timed) continue;
        std::optional<TimeNs> time = time_of(packet, sequence);
        if (!of_use) continue;
        if (!time) {
            ++without_clock_;
            continue;
        }
        if (!packet.event.empty()) track_event(packet, sequence, *time, receiver);
        if (!packet.stage.empty()) render_stage(packet.stage, sequence, *time, receiver);
        if (!packet.counters.empty()) gpu_counters(packet.counters, sequence, *time, receiver);
    }
    if (dropped_ > 0) losses_.lose(Loss::recorder_loss, "packets that Perfetto dropped before others", dropped_);
    if (without_state_ > 0)
        losses_.lose(Loss::recorder_loss, "packets whose names were lost with earlier packets", without_state_);
    if (without_clock_ > 0) losses_.lose(Loss::missing_field, "packets of an unknown clock", without_clock_);
}

Note PerfettoTrace::note(std::string_view message, const Sequence& sequence, int depth) {
    Note note;
    std::string items;
    ProtobufFields fields(message);
    while (fields.next()) switch (fields.number()) {
            case 1: note.key = name_in(sequence.keys, fields.value()); break;
            case 10: note.key = fields.bytes(); break;
            case 2:
            case 3:
            case 4:
            case 7: note.number = fields.integer(); break;
            case 5: note.real = fields.real(); break;
            case 6: note.text = fields.bytes(); break;
            case 17: note.text = name_in(sequence.texts, fields.value()); break;
            case 12: {
                note.is_list = true;
                if (depth >= kMaxDepth) break;
                Note item = this->note(fields.bytes(), sequence, depth + 1);
                if (!items.empty()) items += ", ";
                if (item.number)
                    items += fmt::format("{}", *item.number);
                else if (item.real)
                    items += fmt::format("{}", *item.real);
                else
                    items += item.is_list ? item.text : json_text(item.text);
                break;
            }
            default: break;  // dictionaries are not used
        }
    if (note.is_list) note.text = "[" + items + "]";
    return note;
}

void PerfettoTrace::track_event(const Packet& packet, const Sequence& sequence, TimeNs time, Receiver& receiver) {
    enum { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
    Event event;
    event.time = time;
    event.track = sequence.track;
    std::uint64_t type = 0;
    ProtobufFields fields(packet.event);
    while (fields.next()) switch (fields.number()) {
            case 3:
                fields.each_integer([&](std::uint64_t id) {
                    if (event.category.empty()) event.category = name_in(sequence.categories, id);
                });
                break;
            case 4: event.notes.push_back(note(fields.bytes(), sequence, 0)); break;
            case 9: type = fields.value(); break;
            case 10: event.name = name_in(sequence.names, fields.value()); break;
            case 11: event.track = fields.value(); break;
            case 22:
                if (event.category.empty()) event.category = fields.bytes();
                break;
            case 23: event.name = fields.bytes(); break;
            case 30: event.value = static_cast<double>(fields.integer()); break;
            case 44: event.value = fields.real(); break;
            case 36:
            case 42:
            case 47:
            case 48:
                if (!fields.is_bytes()) event.flows.push_back(fields.value());
                break;
            default: break;
        }
    if (fields.damaged()) return losses_.lose(Loss::malformed_event, "a track event");
    ++order_;
    if (type == kBegin) receiver.begin(event, order_);
    if (type == kEnd) receiver.end(event.track, time, order_);
    if (type == kInstant) receiver.instant(event);
    if (type == kCounter) receiver.count(event);
}

void PerfettoTrace::render_stage(std::string_view message, const Sequence& sequence, TimeNs time, Receiver& receiver) {
    Stage stage;
    stage.time = time;
    ProtobufFields fields(message);
    while (fields.next()) switch (fields.number()) {
            case 2: stage.dur = fields.integer(); break;
            case 6: {
                Note note;
                ProtobufFields extra(fields.bytes());
                while (extra.next()) {
                    if (extra.number() == 1) note.key = extra.bytes();
                    if (extra.number() == 2) note.text = extra.bytes();
                }
                stage.notes.push_back(std::move(note));
                break;
            }
            case 11: stage.gpu = fields.integer(); break;
            case 14: stage.kind = name_in(sequence.specifications, fields.value()); break;
            case 17: stage.name = fields.bytes(); break;
            case 20: stage.name = name_in(sequence.names, fields.value()); break;
            case 19: stage.kernel = name_in(sequence.kernels, fields.value()); break;
            case 21: {
                ProtobufFields launch(fields.bytes());
                while (launch.next()) {
                    if (launch.number() == 1) take_dimensions(launch.bytes(), stage.grid);
                    if (launch.number() == 2) take_dimensions(launch.bytes(), stage.block);
                    if (launch.number() != 3) continue;
                    Note note;
                    ProtobufFields argument(launch.bytes());
                    while (argument.next()) {
                        if (argument.number() == 1) note.key = name_in(sequence.arguments, argument.value());
                        if (argument.number() == 2) note.key = argument.bytes();
                        if (argument.number() > 2 && !argument.is_bytes()) note.number = argument.integer();
                    }
                    stage.arguments.push_back(std::move(note));
                }
                break;
            }
            default: break;
        }
    if (fields.damaged() || stage.dur < 0 || stage.dur >= kMaxTime)
        return losses_.lose(Loss::malformed_event, "a render stage");
    receiver.stage(stage);
}

void PerfettoTrace::gpu_counters(std::string_view message, const Sequence& sequence, TimeNs time, Receiver& receiver) {
    std::string_view description;
    GpuCount count;
    count.time = time;
    ProtobufFields about(message);
    while (about.next()) {
        if (about.number() == 1) description = about.bytes();
        if (about.number() == 3) count.gpu = about.integer();
        if (about.number() == 4) description = name_in(sequence.counters, about.value());
    }
    ProtobufFields fields(message);
    while (fields.next()) {
        if (fields.number() != 2) continue;
        std::uint64_t id = 0;
        ProtobufFields value(fields.bytes());
        while (value.next()) {
            if (value.number() == 1) id = value.value();
            if (value.number() == 2) count.value = static_cast<double>(value.integer());
            if (value.number() == 3) count.value = value.real();
        }
        count.name = {};
        ProtobufFields specs(description);
        while (count.name.empty() && specs.next()) {
            if (specs.number() != 1) continue;
            std::uint64_t which = 0;
            std::string_view name;
            ProtobufFields spec(specs.bytes());
            while (spec.next()) {
                if (spec.number() == 1) which = spec.value();
                if (spec.number() == 2) name = spec.bytes();
            }
            if (which == id) count.name = name;
        }
        receiver.gpu_count(count);
    }
}

}  // namespace gpuprof::importers::perfetto
