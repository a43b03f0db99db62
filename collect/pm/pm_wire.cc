#include "collect/pm/pm_wire.h"

#include "collect/device/packet.h"

namespace gpuprof::pm {

template <SameRecord<CounterRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.part, r.set, r.program, r.interval, r.written_until);
}
template <SameRecord<CounterReport> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.phase, r.code, r.remarks, r.sample_times, r.lost, r.written_until);
}

namespace {

constexpr std::uint8_t kRequest = 0xC1, kReport = 0xC2;

}  // namespace

std::string encode(const CounterRequest& request) { return encode_packet(kRequest, request); }
std::string encode(const CounterReport& report) { return encode_packet(kReport, report); }

std::optional<CounterRequest> decode_request(std::string_view packet) {
    std::optional<CounterRequest> request = decode_packet<CounterRequest>(kRequest, packet);
    return request && request->interval > 0 ? request : std::nullopt;
}

std::optional<CounterReport> decode_report(std::string_view packet) {
    std::optional<CounterReport> report = decode_packet<CounterReport>(kReport, packet);
    return report && report->phase <= CounterReport::Phase::finished ? report : std::nullopt;
}

}  // namespace gpuprof::pm
