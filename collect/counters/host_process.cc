#include "collect/counters/host_process.h"

#include <algorithm>

#include "collect/counters/clock_lock.h"
#include "collect/counters/counter_catalogue.h"
#include "collect/counters/counter_device.h"
#include "collect/counters/counter_wire.h"
#include "collect/counters/evaluation.h"
#include "collect/counters/metric_plan.h"
#include "collect/counters/source_set.h"
#include "collect/device/process_link.h"

namespace gpuprof::counters {
namespace {

Status describe_device(const Api& api, PlanReply& reply, Chip& chip) {
    Result<Device> device = find_device(api);
    if (!device.ok()) return device.error();
    chip = device->chip;
    reply.availability.assign(chip.availability.begin(), chip.availability.end());
    reply.device = device->name;
    reply.cc_major = device->cc_major;
    reply.cc_minor = device->cc_minor;
    reply.sms = device->sms;
    reply.memory_bytes = device->memory_bytes;
    return {};
}

PlannedSet plan_set(const Api& api, const Chip& chip, const std::string& wanted) {
    PlannedSet set;
    auto refuse = [&](const Error& error) {
        set.error = error.message;
        set.code = static_cast<int>(error.code);
        return set;
    };
    Result<std::vector<std::string>> names = wanted_metrics(wanted);
    if (!names.ok()) return refuse(names.error());
    set.costly = costly_metrics(wanted, chip.name);
    std::erase_if(*names, [&](const std::string& name) {
        return std::find(set.costly.begin(), set.costly.end(), name) != set.costly.end();
    });
    Result<MetricPlan> plan =
        wanted == kSourceSet ? plan_source_metrics(api, chip, *names) : plan_metrics(api, chip, *names);
    if (!plan.ok()) return refuse(plan.error());
    set.names = plan->names;
    set.units = plan->units;
    set.absent = plan->absent;
    set.left_apart = plan->left_apart;
    set.config.assign(plan->config.begin(), plan->config.end());
    set.passes = plan->passes;
    return set;
}

void list_chips(const Api& api, PlanReply& reply) {
    HostGetChips parameters;
    if (api.chips.code(parameters) != pm::kSuccess) return;
    for (std::size_t i = 0; i < parameters.count; ++i) reply.chips.emplace_back(parameters.chips[i]);
}

Status plan(const PlanRequest& request, PlanReply& reply) {
    Result<Api> api = load_host_api(request.program);
    if (!api.ok()) return api.error();
    reply.cupti = api->path;
    reply.cupti_version = api->version;
    Chip chip{request.chip, {}};
    if (chip.name.empty())
        if (Status found = describe_device(*api, reply, chip); !found) return found;
    reply.chip = chip.name;
    Result<std::unique_ptr<MetricHost>> host = MetricHost::open(*api, chip);
    if (!host.ok()) {
        list_chips(*api, reply);
        return host.error();
    }
    if (request.list_metrics) reply.metrics = (*host)->base_metrics();
    bool one = request.sets.size() == 1;
    for (const std::string& set : request.sets) {
        reply.sets.push_back(plan_set(*api, chip, set));
        if (!one) reply.sets.back().config.clear();  // several do not fit into a packet, and are only listed
    }
    return {};
}

int answer(const PlanRequest& request) {
    PlanReply reply;
    if (Status planned = plan(request, reply); !planned) {
        reply.code = static_cast<int>(planned.error().code);
        reply.error = planned.error().message;
    }
    return send_packet(encode(reply)) ? 0 : 1;
}

int answer(const EvaluateRequest& request) {
    EvaluateReport report;
    auto tell = [&] { return send_packet(encode(report)); };
    if (Status done = evaluate(request, report, tell); !done) {
        report.code = static_cast<int>(done.error().code);
        report.error = done.error().message;
    }
    report.last = true;
    return tell() ? 0 : 1;
}

}  // namespace

int run_host_process() {
    begin_link_end("gpuprof-metrics");
    std::string packet = receive_packet(kMaxBytes);
    if (std::optional<PlanRequest> request = decode_plan_request(packet)) return answer(*request);
    if (std::optional<EvaluateRequest> request = decode_evaluate_request(packet)) return answer(*request);
    if (std::optional<ClockRequest> request = decode_clock_request(packet)) return hold_clocks(*request);
    return 1;
}

}  // namespace gpuprof::counters
