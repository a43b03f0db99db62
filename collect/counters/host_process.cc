#include "collect/counters/host_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collect/counters/clock_lock.h"
#include "collect/counters/counter_catalogue.h"
#include "collect/counters/counter_wire.h"
#include "collect/counters/driver.h"
#include "collect/counters/metric_plan.h"
#include "collect/counters/sample_rows.h"
#include "collect/counters/skips.h"
#include "collect/counters/source_set.h"
#include "collect/counters/spooled_images.h"
#include "collect/device/process_link.h"
#include "core/base/result.h"
#include "core/base/whole_file.h"
#include "core/format/capture_part.h"
#include "core/format/counter_plan.h"
#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::counters {
namespace {

// Turns images into rows: the tables profiled_kernel and kernel_counter of a capture. Runs in the process of
// host_process.h: an image that CUPTI does not survive costs its own values only. Images are opaque; one whose hash is
// wrong never reaches CUPTI. A value that is not finite is absent, and a loss.

constexpr std::string_view kDuration = "gpu__time_duration.sum";
constexpr std::uint32_t kUnknown = spool::CounterLaunch::kUnknown;

constexpr std::uint64_t kMaxPlanBytes = std::uint64_t{64} << 20;

class Evaluator {
public:
    Evaluator(const Api& api, const CounterPlan& plan, const EvaluateRequest& request, CapturePart& part,
              EvaluateReport& totals)
        : api_(api), plan_(plan), request_(request), part_(part), totals_(totals) {
        chip_.name = plan.chip;
        chip_.availability.assign(plan.availability.begin(), plan.availability.end());
        for (const PlannedMetric& metric : plan.metrics) {
            names_.emplace_back(metric.name);
            units_.emplace_back(metric.unit);
        }
    }

    void add(const Measurement& measurement) {
        if (!measurement.complete) return lose(measurement, "the process ended while it was measured");
        const spool::CounterImage& about = measurement.about;
        if (about.code != 0) {
            part_.add_loss(name(Loss::unmeasured_kernel), 1,
                           fmt::format("{}: {}", measurement.name,
                                       pm::explain(function_of(about).c_str(), static_cast<int>(about.code)).message));
            ++totals_.lost;
            return;
        }
        if (image_hash(measurement.image) != about.hash) return lose(measurement, "its data were damaged on disk");
        if (plan_.scope == CounterScope::instructions) {  // what was counted is in the samples' files
            if (about.dropped > 0) lose(measurement, "CUPTI dropped counters of its instructions");
            ++totals_.launches;
            return;
        }
        if (about.dropped > 0)
            part_.add_loss(name(Loss::unmeasured_kernel), about.dropped,
                           fmt::format("{}: ranges had no room in CUPTI's buffer", measurement.name));
        Result<std::vector<double>> values = values_of(measurement);
        if (!values.ok()) return lose(measurement, values.error().message);
        add_rows(measurement, *values);
    }

    // Once, if there was any measurement.
    void add_device() {
        RowBuffer& row = part_.table("device").add();
        row.set("device", std::int64_t{0});
        if (!plan_.device.empty()) row.set("name", part_.intern(plan_.device));
        row.set("vendor", part_.intern("nvidia"));
        if (plan_.cc_major > 0)
            row.set("cc_major", std::int64_t{plan_.cc_major}).set("cc_minor", std::int64_t{plan_.cc_minor});
        if (plan_.sms > 0) row.set("sms", std::int64_t{plan_.sms});
    }

private:
    static std::string_view name(Loss loss) { return spec_of(loss).name; }
    static std::string function_of(const spool::CounterImage& about) {
        return {about.function, strnlen(about.function, sizeof about.function)};
    }

    void lose(const Measurement& measurement, const std::string& why) {
        part_.add_loss(name(Loss::unmeasured_kernel), 1, fmt::format("{}: {}", measurement.name, why));
        ++totals_.lost;
    }

    Result<std::vector<double>> values_of(const Measurement& measurement) {
        const auto* image = reinterpret_cast<const std::uint8_t*>(measurement.image.data());
        range::GetRangeCount count;
        count.image = image;
        count.bytes = measurement.image.size();
        if (Status status = api_.range_count(count); !status) return status.error();
        if (count.ranges == 0) return Error{ExitCode::empty, "CUPTI recorded nothing"};
        if (count.ranges > 1)
            return Error{ExitCode::empty, fmt::format("{} launches were measured as one", count.ranges)};
        if (!host_) {
            Result<std::unique_ptr<MetricHost>> host = MetricHost::open(api_, chip_);
            if (!host.ok()) return host.error();
            if (Status added = (*host)->add(names_); !added) return added.error();
            host_ = std::move(*host);
        }
        std::vector<double> values;
        if (Status status = host_->evaluate(image, measurement.image.size(), 0, names_, values); !status)
            return status.error();
        return values;
    }

    void add_rows(const Measurement& measurement, const std::vector<double>& values) {
        auto launch = static_cast<std::int64_t>(totals_.image);
        add_launch(launch, measurement, values);
        std::size_t missing = 0;
        std::string first;
        RowBuffer& table = part_.table("kernel_counter");
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (!std::isfinite(values[i])) {
                if (missing++ == 0) first = names_[i];
                continue;
            }
            RowBuffer& row = table.add().set("launch", launch).set("metric", part_.intern(names_[i]));
            if (!units_[i].empty()) row.set("unit", part_.intern(units_[i]));
            row.set_real("value", values[i]);
            ++totals_.values;
        }
        if (missing > 0)
            part_.add_loss(name(Loss::missing_counter), static_cast<std::int64_t>(missing),
                           fmt::format("{}: {}{}", measurement.name, first, missing > 1 ? " and others" : ""));
        ++totals_.launches;
    }

    // The same process in the trace: its only one, or that of the same rank; "" if neither is known.
    std::string process_of(const Measurement& measurement) const {
        if (!request_.with_trace) return measurement.process;
        return process_in_trace(request_.processes, measurement.rank);
    }

    void add_launch(std::int64_t number, const Measurement& measurement, const std::vector<double>& values) {
        const spool::CounterLaunch& launch = measurement.launch;
        bool range = launch.range != 0;
        RowBuffer& row = part_.table("profiled_kernel").add();
        row.set("launch", number);
        if (std::string process = process_of(measurement); !process.empty()) row.set("process", part_.intern(process));
        row.set("device", launch.device == kUnknown ? 0 : std::int64_t{launch.device});
        if (launch.context != kUnknown) row.set("context", std::int64_t{launch.context});
        row.set("kind", part_.intern(range ? "range" : "kernel"));
        row.set(range ? "range" : "name", part_.intern(measurement.name));
        if (!range) {
            if (launch.stream != kUnknown) row.set("stream", std::int64_t{launch.stream});
            constexpr const char* kGrid[] = {"grid_x", "grid_y", "grid_z"};
            constexpr const char* kBlock[] = {"block_x", "block_y", "block_z"};
            for (int i = 0; i < 3; ++i)
                row.set(kGrid[i], std::int64_t{launch.grid[i]}).set(kBlock[i], std::int64_t{launch.block[i]});
            if (launch.cluster > 0) row.set("cluster_size", std::int64_t{launch.cluster});
            row.set("occurrence", static_cast<std::int64_t>(launch.occurrence));
            add_resources(row, measurement);
        }
        if (plan_.cc_major > 0)
            row.set("cc_major", std::int64_t{plan_.cc_major}).set("cc_minor", std::int64_t{plan_.cc_minor});
        row.set("tool", part_.intern("gpu-profile counters"));
        row.set("cache_mode", part_.intern(plan_.cache == CacheMode::flush ? "flush" : "warm"));
        row.set("clock_mode", part_.intern(plan_.clock));
        row.set("passes", std::int64_t{plan_.passes});
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == kDuration && std::isfinite(values[i]) && values[i] >= 0)
                row.set("dur", static_cast<std::int64_t>(std::llround(values[i])));
    }

    // What only the trace knew.
    void add_resources(RowBuffer& row, const Measurement& measurement) {
        const spool::CounterLaunch& launch = measurement.launch;
        for (const PlannedKernel& kernel : plan_.kernels) {
            bool same = kernel.name == measurement.name && std::equal(kernel.grid, kernel.grid + 3, launch.grid) &&
                        std::equal(kernel.block, kernel.block + 3, launch.block);
            if (!same || kernel.registers == 0) continue;
            row.set("registers", std::int64_t{kernel.registers});
            row.set("shared_bytes", static_cast<std::int64_t>(kernel.shared_bytes));
            return;
        }
    }

    const Api& api_;
    const CounterPlan& plan_;
    const EvaluateRequest& request_;
    CapturePart& part_;
    EvaluateReport& totals_;
    Chip chip_;
    std::vector<std::string> names_, units_;
    std::unique_ptr<MetricHost> host_;
};

// `refused`: only where the collector's own spool file, which says it too, is not part of the recording.
void add_losses(const SpooledImages& spooled, bool refused, CapturePart& part) {
    for (const std::string& each : spooled.refused)
        if (refused) part.add_loss(spec_of(Loss::recorder_refused).name, 1, each);
    for (const std::string& hung : spooled.hung) part.add_loss(spec_of(Loss::hung_replay).name, 1, hung);
    for (const auto& [reason, skipped] : spooled.skipped)
        part.add_loss(spec_of(Loss::unmeasured_kernel).name, static_cast<std::int64_t>(skipped.count),
                      explain_skip(reason, skipped));
}

// Writes request.part. `report` is called before each image; false ends the evaluation.
Status evaluate(const EvaluateRequest& request, EvaluateReport& totals, const std::function<bool()>& report) {
    Result<std::string> bytes = read_whole_file(request.plan, kMaxPlanBytes);
    std::optional<CounterPlan> plan = bytes.ok() ? decode_counter_plan(*bytes) : std::nullopt;
    if (!plan)
        return Error{ExitCode::unreadable, fmt::format("cannot read the plan of the counters: {}", request.plan)};
    SpooledImages spooled;
    for (const std::string& file : request.spools)
        if (Status status = read_images(file, spooled); !status) return status;
    Result<Api> api = load_host_api(plan->cupti.empty() ? request.program : std::string(plan->cupti));
    if (!api.ok()) return api.error();
    if (api->version != plan->cupti_version)
        return Error{ExitCode::empty,
                     fmt::format("the counters were measured with CUPTI {}, but {} is {}; set GPUPROF_CUPTI to {}",
                                 plan->cupti_version, api->path, api->version, plan->cupti)};
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(request.part, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    Evaluator evaluator(*api, *plan, request, **part, totals);
    if (request.skip == 0 && !request.with_trace && !spooled.measurements.empty()) evaluator.add_device();
    if (request.skip == 0) add_losses(spooled, request.with_trace, **part);
    for (const Measurement& measurement : spooled.measurements) {
        if (++totals.image <= request.skip) continue;
        if (!report()) return Error{ExitCode::internal, "the launcher ended"};
        evaluator.add(measurement);
        if (Status flushed = (*part)->flush(); !flushed) return flushed;  // a crash must not cost these rows
    }
    return (*part)->close();
}

// The GPU of this process for a plan: its chip, which counters are available to this user, and what the driver says of
// it. Needs the driver, and a context; only in the process of host_process.h.

struct Device {
    Chip chip;
    std::string name;
    std::uint32_t cc_major = 0, cc_minor = 0, sms = 0;  // 0: unknown
    std::uint64_t memory_bytes = 0, free_bytes = 0;     // 0: unknown
    int count = 0;                                      // of devices
};

// Source: cuda.h, CUdevice_attribute.
constexpr int kSms = 16, kMajor = 75, kMinor = 76;

std::uint32_t attribute(const Driver& driver, int which) {
    int value = 0;
    return driver.call("cuDeviceGetAttribute", &value, which, 0) == 0 ? static_cast<std::uint32_t>(value) : 0;
}

Status read_availability(const Api& api, void* context, Chip& chip) {
    range::GetAvailability asked;
    asked.context = context;
    if (Status status = api.availability(asked); !status) return status;
    chip.availability.resize(asked.bytes);
    asked.image = chip.availability.data();
    return api.availability(asked);
}

// Of the first device that the driver shows.
Result<Device> find_device(const Api& api) {
    Result<Driver> driver = Driver::open();
    if (!driver.ok()) return driver.error();
    Result<Driver::FirstDevice> first = driver->first_device();
    if (!first.ok()) return first.error();
    Device device;
    device.count = first->count;
    pm::ProfilerInitialize initialize;
    if (Status status = api.initialize(initialize); !status) return status.error();
    pm::GetChipName name;
    if (Status status = api.chip_name(name); !status) return status.error();
    device.chip.name = name.chip == nullptr ? "" : name.chip;
    if (Status status = read_availability(api, first->context, device.chip); !status) return status.error();
    std::array<char, 256> text{};
    if (driver->call("cuDeviceGetName", text.data(), static_cast<int>(text.size()), 0) == 0) device.name = text.data();
    device.cc_major = attribute(*driver, kMajor);
    device.cc_minor = attribute(*driver, kMinor);
    device.sms = attribute(*driver, kSms);
    std::size_t free = 0, total = 0;
    if (driver->call("cuMemGetInfo_v2", &free, &total) == 0) {
        device.free_bytes = free;
        device.memory_bytes = total;
    }
    return device;
}

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
    set.separate = plan->separate;
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
    Result<Api> api = load_host_api(request.program, request.chip.empty());
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
    auto send_report = [&] { return send_packet(encode(report)); };
    if (Status done = evaluate(request, report, send_report); !done) {
        report.code = static_cast<int>(done.error().code);
        report.error = done.error().message;
    }
    report.last = true;
    return send_report() ? 0 : 1;
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
