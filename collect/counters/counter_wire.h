// The messages between the launcher and the process that calls CUPTI's host interface for it (host_process.h).
//
//   launcher -> process   PlanRequest                      process -> launcher   PlanReply
//   launcher -> process   EvaluateRequest                  process -> launcher   EvaluateReport ..., the last with `last`
//   launcher -> process   ClockRequest, later any packet   process -> launcher   ClockReply when locked, again when unlocked
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::counters {

struct PlanRequest {
    std::string program;            // the command; its Python environment is searched for CUPTI
    std::string chip;               // "": that of this machine's GPU
    std::vector<std::string> sets;  // as --set takes them; a plan is made of each
    bool list_metrics = false;      // all metrics of the chip instead
};

struct PlannedSet {
    std::vector<std::string> names, units;
    std::vector<std::string> absent;    // the chip lacks them
    std::vector<std::string> separate;  // links, which need a run of their own
    std::vector<std::string> costly;    // each would cost a pass more
    std::string config, error;          // why there is no plan; "" if there is one
    int code = 0;                       // ExitCode, with an error
    std::uint64_t passes = 0;
};

struct PlanReply {
    int code = 0;       // ExitCode; 0: planned
    std::string error;  // if not
    std::string cupti, chip, availability, device;
    std::uint32_t cupti_version = 0, cc_major = 0, cc_minor = 0, sms = 0;
    std::uint64_t memory_bytes = 0;
    std::vector<PlannedSet> sets;
    std::vector<std::string> metrics, chips;
};

// A process of the trace that the measurements are added to.
struct TracedProcess {
    std::string key;
    std::int64_t rank = -1;  // in a distributed job; -1: none
};

struct EvaluateRequest {
    std::string program, plan;             // the command; the plan's file
    std::vector<std::string> spools;       // files with images
    std::string part;                      // the capture to write
    bool with_trace = false;               // the capture is merged with a trace, which describes the device
    std::vector<TracedProcess> processes;  // of that trace, with kernels
    std::uint64_t skip = 0;                // images that an earlier process took
};

struct EvaluateReport {
    std::uint64_t image = 0;  // about to be evaluated, from 1
    bool last = false;
    int code = 0;       // ExitCode, if evaluation ended before its end
    std::string error;  // then
    std::uint64_t launches = 0, values = 0, lost = 0;
};

struct ClockRequest {
    std::string cupti, mode;  // path of the library; base or boost
};

struct ClockReply {
    int code = 0;           // ExitCode; 0: locked, and after the next packet unlocked
    std::string error;      // if not
    bool external = false;  // another tool had locked them
};

inline constexpr std::size_t kMaxBytes = 192 * 1024;

std::string encode(const PlanRequest& request);
std::string encode(const PlanReply& reply);
std::string encode(const EvaluateRequest& request);
std::string encode(const EvaluateReport& report);
std::string encode(const ClockRequest& request);
std::string encode(const ClockReply& reply);
// Absent if the bytes are not a packet of this build.
std::optional<PlanRequest> decode_plan_request(std::string_view packet);
std::optional<PlanReply> decode_plan_reply(std::string_view packet);
std::optional<EvaluateRequest> decode_evaluate_request(std::string_view packet);
std::optional<EvaluateReport> decode_evaluate_report(std::string_view packet);
std::optional<ClockRequest> decode_clock_request(std::string_view packet);
std::optional<ClockReply> decode_clock_reply(std::string_view packet);

}  // namespace gpuprof::counters
