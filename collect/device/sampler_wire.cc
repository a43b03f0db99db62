#include "collect/device/sampler_wire.h"

#include "collect/device/packet.h"

namespace gpuprof::inline device {

template <SameRecord<SourceRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.backend, r.devices, r.visible_devices, r.visible_set, r.interval, r.avoid);
}
template <SameRecord<Start> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.request, r.warmup);
}
template <SameRecord<Stop> Record, class Visit>
void visit_fields(Record&, Visit&) {}
template <SameRecord<SampledDevice> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.device, r.nvml_index, r.name, r.uuid, r.pci_bus_id, r.mig);
    visit(r.power_limit_w, r.sm_clock_max_mhz, r.mem_clock_max_mhz);
}
template <SameRecord<Opened> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.backend, r.immediate, r.devices, r.notes);
}
template <SameRecord<Refused> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.code, r.sentence);
}
template <SameRecord<ProcessReading> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.time, r.device, r.pid, r.mem_used_mb, r.util_gpu, r.driver_pid);
}
template <SameRecord<Fault> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.time, r.device, r.metrics, r.lost, r.sentence);
}
template <SameRecord<PollMessage> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.polled.readings, r.polled.energy, r.polled.processes, r.polled.faults);
    visit(r.ended);
}
template <SameRecord<Done> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.ticks, r.missed, r.late_p50_ms, r.late_p99_ms, r.late_max_ms);
    visit(r.cpu_s, r.wall_s);
}
template <SameRecord<MetricSet> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    std::uint64_t bits = r.bits();
    visit(bits);
    if constexpr (!std::is_const_v<Record>) r = MetricSet(bits) & MetricSet::all();
}
template <SameRecord<Reading> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.time, r.device, r.present);
    for (const MetricSpec& spec : kMetrics)
        if (r.present.has(spec.metric)) visit(r.values[index_of(spec.metric)]);
}

namespace {

template <std::size_t... Kinds>
std::optional<Message> decode_kind(std::string_view packet, std::index_sequence<Kinds...>) {
    std::optional<Message> message;
    auto take = [&message](auto record) {
        if (record) message = std::move(*record);
    };
    (take(decode_packet<std::variant_alternative_t<Kinds, Message>>(Kinds, packet)), ...);
    return message;
}

}  // namespace

std::string encode(const Message& message) {
    auto kind = static_cast<std::uint8_t>(message.index());
    return std::visit([kind](const auto& record) { return encode_packet(kind, record); }, message);
}

std::optional<Message> decode(std::string_view packet) {
    return decode_kind(packet, std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace gpuprof::device
