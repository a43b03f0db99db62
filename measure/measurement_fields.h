// The members of a measurement's JSON object, each named once, in writing order: MemberWriter and MemberReader visit
// them. Names are a contract (capi/gpuprof.h). A visitor provides:
//   member(name, value)             a value; an absent optional is null
//   member_if(name, value, there)   null if `there` is false
//   object(name, visit)             a nested object
//   optional(name, value, visit)    a nested object that may be absent
//   list(name, values, visit)       an array of objects
#pragma once

#include "measure/measurement.h"

namespace gpuprof::measure {

template <class Seen, class Visitor>
void visit_warmup(Seen& seen, Visitor& visitor) {
    visitor.member("calls", seen.calls);
    visitor.member("time_ns", seen.time);
    visitor.member("first_ns", seen.first_ns);
    visitor.member("last_ns", seen.last_ns);
    visitor.member("settled", seen.settled);
}

template <class Conditions, class Visitor>
void visit_conditions(Conditions& found, Visitor& visitor) {
    visitor.member("readings", found.readings);
    visitor.member("sm_clock_mhz", found.sm_clock_mhz);
    visitor.member("sm_clock_min_mhz", found.sm_clock_min_mhz);
    visitor.member("sm_clock_max_mhz", found.sm_clock_max_mhz);
    visitor.member("mem_clock_mhz", found.mem_clock_mhz);
    visitor.member("power_w", found.power_w);
    visitor.member("temp_c", found.temp_c);
    visitor.member("energy_j", found.energy_j);
    visitor.member("energy_uncertainty_j", found.energy_uncertainty_j);
    visitor.member_if("energy_basis", found.energy_basis, !found.energy_basis.empty());
    visitor.member_if("throttle", found.throttle, found.readings > 0);
}

// `M` is a Measurement, const or not.
template <class M, class Visitor>
void visit_measurement(M& m, Visitor& visitor) {
    visitor.member("name", m.name);
    visitor.member("timer", m.timer);
    visitor.member_if("device", m.device, m.device >= 0);
    visitor.member_if("device_name", m.device_name, m.device >= 0);
    visitor.member("cold", m.cold);
    visitor.member("graph", m.graph);
    visitor.member("blocking", m.blocking);
    visitor.member("batch", m.batch);
    visitor.member("calls", m.calls);
    visitor.statistics("statistics", m.statistics);
    visitor.object("warmup", [&](auto& inner) { visit_warmup(m.warmup, inner); });
    visitor.member("threads", m.threads);
    visitor.member("waiting", m.waiting);
    visitor.member("host_ns", m.host_ns);
    visitor.member("stray_ns", m.stray_ns);
    visitor.member("throttled_left_out", m.throttled_left_out);
    visitor.member("throttled_kept", m.throttled_kept);
    visitor.member("invalid", m.invalid);
    visitor.object("conditions", [&](auto& inner) { visit_conditions(m.conditions, inner); });
    visitor.member("energy_per_call_j", m.energy_per_call_j);
    visitor.member("energy_per_call_uncertainty_j", m.energy_per_call_uncertainty_j);
    visitor.member("cycles", m.cycles);
    visitor.member("bytes_per_s", m.bytes_per_s);
    visitor.member("flop_per_s", m.flop_per_s);
    visitor.member("bytes_pct", m.bytes_pct);
    visitor.member("flop_pct", m.flop_pct);
    visitor.member("peak_bytes_per_s", m.peak_bytes_per_s);
    visitor.member("peak_flop_per_s", m.peak_flop_per_s);
    visitor.member_if("peak_source", m.peak_source, !m.peak_source.empty());
    visitor.member("stopped", m.stopped);
    visitor.member("sampling_time_ns", m.sampling_time);
    visitor.member("notes", m.notes);
    visitor.member("samples", m.samples);
}

}  // namespace gpuprof::measure
