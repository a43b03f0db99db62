#include "io/exporters/perfetto/sequence.h"

#include <protozero/pbf_writer.hpp>

#include "io/exporters/perfetto/fields.h"

namespace gpuprof::inline exporters::perfetto {

using protozero::pbf_writer;

void write_packet(Sink& sink, std::string_view packet) {
    constexpr char kLengthDelimited = 2;
    char head[1 + protozero::max_varint_length] = {trace::packet << 3 | kLengthDelimited};
    int length = protozero::write_varint(head + 1, packet.size());
    sink.write({head, 1 + static_cast<std::size_t>(length)});
    sink.write(packet);
}

Sequence::Sequence(Sink& sink, std::uint32_t number, TimeNs start) : sink_(sink), number_(number), last_(start) {
    std::string packet;
    pbf_writer writer(packet);
    writer.add_uint32(packet::sequence, number);
    writer.add_uint32(packet::sequence_flags, packet::kStateCleared);
    writer.add_bool(packet::first_on_sequence, true);
    {
        pbf_writer defaults(writer, packet::defaults);
        pbf_writer(defaults, defaults::event).add_uint64(event::track, number);
        defaults.add_uint32(defaults::timestamp_clock, clocks::kOwn);
    }
    {
        pbf_writer snapshot(writer, packet::clock_snapshot);
        for (std::uint32_t id : {clocks::kBoottime, clocks::kOwn}) {
            pbf_writer clock(snapshot, clocks::clock);
            clock.add_uint32(clocks::id, id);
            clock.add_uint64(clocks::timestamp, static_cast<std::uint64_t>(start));
            if (id == clocks::kOwn) clock.add_bool(clocks::is_incremental, true);
        }
    }
    write_packet(sink, packet);
}

void Sequence::explain(std::uint64_t number, std::string_view text, std::uint32_t field) {
    pbf_writer data(fresh_);
    pbf_writer entry(data, field);
    entry.add_uint64(interned::id, number);
    entry.add_bytes(interned::text, text.data(), text.size());
}

std::uint64_t Sequence::number_of(std::string_view text, StringPool& known, std::uint32_t field) {
    std::size_t before = known.size();
    std::uint64_t number = index_of(known.intern(text)) + std::uint64_t{1};
    if (known.size() > before) explain(number, text, field);
    return number;
}

std::uint64_t Sequence::number_of(const char* literal, Literals& known, std::uint32_t field) {
    std::size_t at = 0;
    while (at < known.size() && known[at] != literal) ++at;
    if (at == known.size()) {
        known.push_back(literal);
        explain(at + 1, literal, field);
    }
    return at + 1;
}

void Sequence::begin(TimeNs time, const Event& what) {
    fresh_.clear();
    event_.clear();
    pbf_writer writer(event_);
    writer.add_enum(event::type, event::kBegin);
    writer.add_uint64(event::category, number_of(what.category, categories_, interned::categories));
    writer.add_uint64(event::name, number_of(what.name, names_, interned::names));
    if (what.flow != 0) writer.add_fixed64(event::flow, what.flow);
    for (const Note& note : what.notes) {
        part_.clear();
        pbf_writer annotation(part_);
        annotation.add_uint64(event::annotation_name, number_of(note.key, keys_, interned::annotation_names));
        if (note.text.empty())
            annotation.add_int64(event::annotation_integer, note.number);
        else
            annotation.add_uint64(event::annotation_text, number_of(note.text, texts_, interned::annotation_texts));
        writer.add_message(event::annotation, part_);
    }
    write(time);
}

void Sequence::end(TimeNs time) {
    fresh_.clear();
    event_.clear();
    pbf_writer(event_).add_enum(event::type, event::kEnd);
    write(time);
}

void Sequence::count(TimeNs time, double value) {
    fresh_.clear();
    event_.clear();
    pbf_writer writer(event_);
    writer.add_enum(event::type, event::kCounter);
    writer.add_double(event::real_value, value);
    write(time);
}

void Sequence::write(TimeNs time) {
    packet_.clear();
    pbf_writer writer(packet_);
    writer.add_uint64(packet::timestamp, static_cast<std::uint64_t>(time - last_));
    last_ = time;
    writer.add_uint32(packet::sequence, number_);
    writer.add_uint32(packet::sequence_flags, packet::kNeedsState);
    if (!fresh_.empty()) writer.add_message(packet::interned_data, fresh_);
    writer.add_message(packet::track_event, event_);
    write_packet(sink_, packet_);
}

}  // namespace gpuprof::exporters::perfetto
