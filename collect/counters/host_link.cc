#include "collect/counters/host_link.h"

#include <fmt/format.h>

#include <memory>

#include "collect/counters/host_process.h"
#include "collect/device/process_link.h"
#include "core/base/ids.h"

namespace gpuprof::counters {
namespace {

constexpr DurNs kPlanTimeout = 60 * kSecond;  // the driver may take seconds to load, and 1,800 metrics three
constexpr DurNs kImageTimeout = 30 * kSecond;
constexpr int kMaxCrashes = 8;

// Why the process is silent.
std::string silence(ProcessLink& link, ProcessLink::Ending ending) {
    std::string call = link.running_call();
    std::string what = ending == ProcessLink::Ending::timeout ? "did not answer" : link.exit_reason();
    return fmt::format("the process that calls CUPTI {}{}", what.empty() ? "ended" : what,
                       call.empty() ? "" : " in " + call);
}

std::string numbered(const std::string& part, int number) {
    if (number == 0) return part;
    std::size_t ending = part.rfind('.');
    return fmt::format("{}_{}{}", part.substr(0, ending), number, part.substr(ending));
}

// One process. Returns whether everything was evaluated; otherwise totals.image is the image that it died of.
bool evaluate_once(const EvaluateRequest& request, EvaluateReport& totals, Evaluation& evaluation) {
    Result<std::unique_ptr<ProcessLink>> link = ProcessLink::open(sampler_program(), kHostArgument);
    if (!link.ok() || !(*link)->send(encode(request))) {
        evaluation.remarks.push_back(link.ok() ? "the process that evaluates counters ended" : link.error().message);
        return true;
    }
    for (;;) {
        ProcessLink::Received received = (*link)->receive(kImageTimeout, kMaxBytes);
        std::optional<EvaluateReport> report = decode_evaluate_report(received.packet);
        if (!report) {
            evaluation.remarks.push_back(
                fmt::format("{}; the values of one launch are lost", silence(**link, received.ending)));
            return false;
        }
        totals = *report;
        if (!report->last) continue;
        if (!report->error.empty()) evaluation.remarks.push_back(report->error);
        return true;
    }
}

}  // namespace

Result<PlanReply> request_plan(const PlanRequest& request) {
    Result<std::unique_ptr<ProcessLink>> link = ProcessLink::open(sampler_program(), kHostArgument);
    if (!link.ok()) return link.error();
    std::string packet = encode(request);
    if (packet.size() > kMaxBytes || !(*link)->send(packet))
        return Error{ExitCode::usage, "too many metrics for one measurement; name fewer"};
    ProcessLink::Received received = (*link)->receive(kPlanTimeout, kMaxBytes);
    std::optional<PlanReply> reply = decode_plan_reply(received.packet);
    if (!reply)
        return Error{ExitCode::empty, fmt::format("{}; use another version of CUPTI, set with GPUPROF_CUPTI "
                                                  "(13.0 works without a driver)",
                                                  silence(**link, received.ending))};
    return *reply;
}

Evaluation evaluate_images(EvaluateRequest request) {
    Evaluation evaluation;
    std::string part = request.part;
    for (int crashes = 0; crashes <= kMaxCrashes; ++crashes) {
        EvaluateReport totals;
        request.part = numbered(part, crashes);
        bool all = evaluate_once(request, totals, evaluation);
        evaluation.parts.push_back(request.part);
        evaluation.launches += totals.launches;
        evaluation.values += totals.values;
        evaluation.lost += totals.lost + (all ? 0 : 1);
        if (all || totals.image <= request.skip) break;  // it died before its first image, and would again
        request.skip = totals.image;
    }
    return evaluation;
}

}  // namespace gpuprof::counters
