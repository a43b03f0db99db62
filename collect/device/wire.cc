#include "collect/device/wire.h"

#include <bit>

#include "core/format/bytes.h"

namespace gpuprof {
namespace {

// Each record lists its fields once, for writing and for reading alike: fields(record, visit).
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, SourceRequest> {
    visit(r.backend), visit(r.devices), visit(r.visible_devices), visit(r.visible_set), visit(r.interval),
        visit(r.avoid);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, Start> {
    visit(r.request), visit(r.warmup);
}
template <class Record, class Visit>
void fields(Record&, Visit&&) requires std::is_same_v<std::remove_const_t<Record>, Stop> {}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, SampledDevice> {
    visit(r.device), visit(r.nvml_index), visit(r.name), visit(r.uuid), visit(r.pci_bus_id), visit(r.mig);
    visit(r.power_limit_w), visit(r.sm_clock_max_mhz), visit(r.mem_clock_max_mhz);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, Opened> {
    visit(r.backend), visit(r.immediate), visit(r.devices), visit(r.notes);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, Refused> {
    visit(r.code), visit(r.sentence);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, ProcessReading> {
    visit(r.time), visit(r.device), visit(r.pid), visit(r.mem_used_mb), visit(r.util_gpu);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, Fault> {
    visit(r.time), visit(r.device), visit(r.metrics), visit(r.lost), visit(r.sentence);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, HarvestBatch> {
    visit(r.harvest.readings), visit(r.harvest.processes), visit(r.harvest.faults), visit(r.ended);
}
template <class Record, class Visit>
void fields(Record& r, Visit&& visit) requires std::is_same_v<std::remove_const_t<Record>, Done> {
    visit(r.ticks), visit(r.missed), visit(r.late_p50_ms), visit(r.late_p99_ms), visit(r.late_max_ms);
    visit(r.cpu_s), visit(r.wall_s);
}

class Encoder {
public:
    explicit Encoder(std::string& out) : out_(out) {}

    template <class Value>
    void operator()(const Value& value) {
        if constexpr (std::is_same_v<Value, std::string>)
            put_text(out_, value);
        else if constexpr (std::is_same_v<Value, bool>)
            put_u8(out_, value ? 1 : 0);
        else if constexpr (std::is_integral_v<Value>)
            put_signed(out_, static_cast<std::int64_t>(value));
        else if constexpr (std::is_same_v<Value, double>)
            put_u64(out_, std::bit_cast<std::uint64_t>(value));
        else if constexpr (std::is_same_v<Value, MetricSet>)
            put_u64(out_, value.bits());
        else if constexpr (std::is_same_v<Value, Reading>)
            reading(value);
        else
            fields(value, *this);
    }
    template <class Value>
    void operator()(const std::optional<Value>& value) {
        put_u8(out_, value ? 1 : 0);
        if (value) (*this)(*value);
    }
    template <class Value>
    void operator()(const std::vector<Value>& values) {
        put_varint(out_, values.size());
        for (const Value& value : values) (*this)(value);
    }

private:
    void reading(const Reading& value) {
        (*this)(value.time), (*this)(value.device), (*this)(value.present);
        for (const MetricSpec& spec : kMetrics)
            if (value.present.has(spec.metric)) (*this)(value.values[index_of(spec.metric)]);
    }
    std::string& out_;
};

class Decoder {
public:
    explicit Decoder(std::string_view bytes) : cursor_(bytes) {}
    bool whole() const { return cursor_.ok() && cursor_.left() == 0; }

    template <class Value>
    void operator()(Value& value) {
        if constexpr (std::is_same_v<Value, std::string>)
            value = cursor_.text();
        else if constexpr (std::is_same_v<Value, bool>)
            value = cursor_.u8() != 0;
        else if constexpr (std::is_integral_v<Value>)
            value = static_cast<Value>(cursor_.signed_varint());
        else if constexpr (std::is_same_v<Value, double>)
            value = std::bit_cast<double>(cursor_.u64());
        else if constexpr (std::is_same_v<Value, MetricSet>)
            value = MetricSet(cursor_.u64()) & MetricSet::all();
        else if constexpr (std::is_same_v<Value, Reading>)
            reading(value);
        else
            fields(value, *this);
    }
    template <class Value>
    void operator()(std::optional<Value>& value) {
        value.reset();
        if (cursor_.u8() != 0) (*this)(value.emplace());
    }
    template <class Value>
    void operator()(std::vector<Value>& values) {
        values.clear();
        std::uint64_t count = cursor_.varint();
        if (count > cursor_.left()) cursor_.take(cursor_.left() + 1);  // every value has a byte: not ours
        for (std::uint64_t i = 0; i < count && cursor_.ok(); ++i) (*this)(values.emplace_back());
    }

private:
    void reading(Reading& value) {
        (*this)(value.time), (*this)(value.device), (*this)(value.present);
        for (const MetricSpec& spec : kMetrics)
            if (value.present.has(spec.metric)) (*this)(value.values[index_of(spec.metric)]);
    }
    ByteCursor cursor_;
};

template <std::size_t Kind>
std::optional<Message> decode_as(std::string_view body) {
    std::variant_alternative_t<Kind, Message> record;
    Decoder decoder(body);
    fields(record, decoder);
    if (!decoder.whole()) return std::nullopt;
    return Message(std::move(record));
}

template <std::size_t... Kinds>
std::optional<Message> decode_kind(std::size_t kind, std::string_view body, std::index_sequence<Kinds...>) {
    std::optional<Message> message;
    ((kind == Kinds ? (message = decode_as<Kinds>(body), true) : false) || ...);
    return message;
}

}  // namespace

std::string encode(const Message& message) {
    std::string out;
    put_u8(out, static_cast<std::uint8_t>(message.index()));
    Encoder encoder(out);
    std::visit([&](const auto& record) { fields(record, encoder); }, message);
    return out;
}

std::optional<Message> decode(std::string_view packet) {
    if (packet.empty()) return std::nullopt;
    return decode_kind(static_cast<std::uint8_t>(packet[0]), packet.substr(1),
                       std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace gpuprof
