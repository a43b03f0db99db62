#include "collect/counters/counter_wire.h"

#include "collect/device/packet.h"

namespace gpuprof::counters {

template <SameRecord<PlanRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.program), visit(r.chip), visit(r.sets), visit(r.list_metrics);
}
template <SameRecord<PlannedSet> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.names), visit(r.units), visit(r.absent), visit(r.left_apart), visit(r.costly);
    visit(r.config), visit(r.error), visit(r.code), visit(r.passes);
}
template <SameRecord<PlanReply> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.code), visit(r.error), visit(r.cupti), visit(r.chip), visit(r.availability), visit(r.device);
    visit(r.cupti_version), visit(r.cc_major), visit(r.cc_minor), visit(r.sms), visit(r.memory_bytes);
    visit(r.sets), visit(r.metrics), visit(r.chips);
}
template <SameRecord<TracedProcess> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.key), visit(r.rank);
}
template <SameRecord<EvaluateRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.program), visit(r.plan), visit(r.spools), visit(r.part), visit(r.beside_trace), visit(r.processes);
    visit(r.skip);
}
template <SameRecord<EvaluateReport> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.image), visit(r.last), visit(r.code), visit(r.error), visit(r.launches), visit(r.values), visit(r.lost);
}
template <SameRecord<ClockRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.cupti), visit(r.mode);
}
template <SameRecord<ClockReply> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.code), visit(r.error), visit(r.external);
}

namespace {

constexpr std::uint8_t kPlanRequest = 0xD1, kPlanReply = 0xD2, kEvaluateRequest = 0xD3, kEvaluateReport = 0xD4,
                       kClockRequest = 0xD5, kClockReply = 0xD6;

}  // namespace

std::string encode(const PlanRequest& request) { return encode_packet(kPlanRequest, request); }
std::string encode(const PlanReply& reply) { return encode_packet(kPlanReply, reply); }
std::string encode(const EvaluateRequest& request) { return encode_packet(kEvaluateRequest, request); }
std::string encode(const EvaluateReport& report) { return encode_packet(kEvaluateReport, report); }
std::string encode(const ClockRequest& request) { return encode_packet(kClockRequest, request); }
std::string encode(const ClockReply& reply) { return encode_packet(kClockReply, reply); }

std::optional<PlanRequest> decode_plan_request(std::string_view packet) {
    return decode_packet<PlanRequest>(kPlanRequest, packet);
}
std::optional<PlanReply> decode_plan_reply(std::string_view packet) {
    return decode_packet<PlanReply>(kPlanReply, packet);
}
std::optional<EvaluateRequest> decode_evaluate_request(std::string_view packet) {
    return decode_packet<EvaluateRequest>(kEvaluateRequest, packet);
}
std::optional<EvaluateReport> decode_evaluate_report(std::string_view packet) {
    return decode_packet<EvaluateReport>(kEvaluateReport, packet);
}
std::optional<ClockRequest> decode_clock_request(std::string_view packet) {
    return decode_packet<ClockRequest>(kClockRequest, packet);
}
std::optional<ClockReply> decode_clock_reply(std::string_view packet) {
    return decode_packet<ClockReply>(kClockReply, packet);
}

}  // namespace gpuprof::counters
