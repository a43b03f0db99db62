#include "collect/counters/counter_wire.h"

#include "collect/device/packet.h"

namespace gpuprof::counters {

template <SameRecord<PlanRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.program, r.chip, r.sets, r.list_metrics);
}
template <SameRecord<PlannedSet> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.names, r.units, r.absent, r.separate, r.costly);
    visit(r.config, r.error, r.code, r.passes);
}
template <SameRecord<PlanReply> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.code, r.error, r.cupti, r.chip, r.availability, r.device);
    visit(r.cupti_version, r.cc_major, r.cc_minor, r.sms, r.memory_bytes);
    visit(r.sets, r.metrics, r.chips);
}
template <SameRecord<TracedProcess> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.key, r.rank);
}
template <SameRecord<EvaluateRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.program, r.plan, r.spools, r.part, r.with_trace, r.processes);
    visit(r.skip);
}
template <SameRecord<EvaluateReport> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.image, r.last, r.code, r.error, r.launches, r.values, r.lost);
}
template <SameRecord<ClockRequest> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.cupti, r.mode);
}
template <SameRecord<ClockReply> Record, class Visit>
void visit_fields(Record& r, Visit& visit) {
    visit(r.code, r.error, r.external);
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
