// The C interface of benchmarks, over measure/. No exception crosses into C.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "capi/capi_options.h"
#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "core/base/text/json_writer.h"
#include "measure/bench.h"
#include "measure/bench_options.def"
#include "measure/cuda_stopwatch.h"

// The C interface of measure/cuda_stopwatch.h.
struct gpuprof_stopwatch {
    gpuprof::measure::CudaStopwatch watch;
};

namespace {

using namespace gpuprof;
using capi::guarded;
using measure::Measurement;
using measure::Work;

thread_local std::string last_json;

// A program built with an older header passes a shorter structure; missing fields keep their defaults.
Result<gpuprof_bench_options> whole(const gpuprof_bench_options& given) {
    constexpr std::size_t kFirstVersion = offsetof(gpuprof_bench_options, flops_as);
    if (given.size < kFirstVersion)
        return Error{ExitCode::usage, "gpuprof_bench_options.size must be sizeof(gpuprof_bench_options)"};
    gpuprof_bench_options options = {};
    std::memcpy(&options, &given, std::min(given.size, sizeof options));
    return options;
}

Status take_stopping(const gpuprof_bench_options& given, measure::StoppingOptions& to) {
    Status taken;
    GPUPROF_STOPPING_OPTIONS(GPUPROF_TAKE_OPTION)
    return taken ? measure::check(to) : taken;
}

Result<measure::BenchOptions> settings_of(const gpuprof_bench_options& given) {
    measure::BenchOptions to;
    Status taken;
    GPUPROF_FUNCTION_OPTIONS(GPUPROF_TAKE_OPTION)
    if (taken) taken = take_stopping(given, to.run.stopping);
    if (!taken) return taken.error();
    // Even without warm-up, one call is made, because its duration must be known.
    if (given.min_warmup_ns < 0) to.run.warmup.max_time = 0;
    return to;
}

Result<Work> work_of(const gpuprof_bench_work* given) {
    if (given == nullptr || given->size < sizeof(gpuprof_bench_work))
        return Error{ExitCode::usage, "gpuprof_bench_work.size must be sizeof(gpuprof_bench_work)"};
    Work work{.call = given->call, .prepare = given->prepare, .user = given->user};
    if (given->name != nullptr) work.name = given->name;
    return work;
}

template <class Value>
std::string json_of(const Value& value) {
    StringSink sink;
    JsonWriter json(sink);
    write_json(value, json);
    return sink.text();
}

template <class Step>
int with(gpuprof_stopwatch* stopwatch, Step&& step) {
    return guarded([&]() -> Status {
        if (stopwatch == nullptr) return Error{ExitCode::usage, "stopwatch must not be NULL"};
        return step(stopwatch->watch);
    });
}

}  // namespace

struct gpuprof_bench {
    explicit gpuprof_bench(measure::Bench opened) : bench(std::move(opened)) {}
    measure::Bench bench;
    std::vector<Measurement> measurements;
    std::optional<measure::Comparison> comparison;
    std::string json;
};

namespace {

Status run(gpuprof_bench& bench, std::span<const Work> works) {
    bench.measurements.clear();
    bench.comparison.reset();
    auto found = bench.bench.run(works);
    if (!found.ok()) return found.error();
    bench.measurements = std::move(*found);
    if (bench.measurements.size() == 2)
        bench.comparison =
            measure::compare(bench.measurements[0].samples, bench.measurements[1].samples, {.paired = true});
    return {};
}

std::string json_of_run(const gpuprof_bench& bench) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.key("measurements");
    json.begin_array();
    for (const Measurement& measurement : bench.measurements) measure::write_json(measurement, json);
    json.end_array();
    json.key("comparison");
    bench.comparison ? measure::write_json(*bench.comparison, json) : json.null();
    json.end_object();
    return sink.text();
}

}  // namespace

extern "C" {

int gpuprof_bench_open(const gpuprof_bench_options* given, gpuprof_bench** bench) {
    return guarded([&]() -> Status {
        if (bench == nullptr) return Error{ExitCode::usage, "bench must not be NULL"};
        *bench = nullptr;
        measure::BenchOptions options;
        if (given != nullptr) {
            Result<gpuprof_bench_options> own = whole(*given);
            if (!own.ok()) return own.error();
            Result<measure::BenchOptions> settings = settings_of(*own);
            if (!settings.ok()) return settings.error();
            options = std::move(*settings);
        }
        Result<measure::Bench> opened = measure::Bench::open(options);
        if (!opened.ok()) return opened.error();
        *bench = new gpuprof_bench(std::move(*opened));
        return {};
    });
}

const char* gpuprof_bench_timer(const gpuprof_bench* bench) {
    return bench != nullptr ? bench->bench.timer().data() : "";
}

int gpuprof_bench_run(gpuprof_bench* bench, const gpuprof_bench_work* given) {
    return guarded([&]() -> Status {
        if (bench == nullptr) return Error{ExitCode::usage, "bench must not be NULL"};
        Result<Work> work = work_of(given);
        if (!work.ok()) return work.error();
        return run(*bench, std::span(&*work, 1));
    });
}

int gpuprof_bench_run_pair(gpuprof_bench* bench, const gpuprof_bench_work* baseline,
                           const gpuprof_bench_work* candidate) {
    return guarded([&]() -> Status {
        if (bench == nullptr) return Error{ExitCode::usage, "bench must not be NULL"};
        std::vector<Work> works;
        for (const gpuprof_bench_work* given : {baseline, candidate}) {
            Result<Work> work = work_of(given);
            if (!work.ok()) return work.error();
            works.push_back(std::move(*work));
        }
        return run(*bench, works);
    });
}

const char* gpuprof_bench_json(gpuprof_bench* bench) {
    int failed = guarded([&]() -> Status {
        if (bench == nullptr) return Error{ExitCode::usage, "bench must not be NULL"};
        if (bench->measurements.empty())
            return Error{ExitCode::empty, "no measurements yet; call gpuprof_bench_run first"};
        bench->json = json_of_run(*bench);
        return {};
    });
    return failed != 0 ? nullptr : bench->json.c_str();
}

size_t gpuprof_bench_samples(const gpuprof_bench* bench, size_t measurement, double* out, size_t capacity) {
    if (bench == nullptr || measurement >= bench->measurements.size()) return 0;
    const std::vector<double>& samples = bench->measurements[measurement].samples;
    if (out != nullptr) std::copy_n(samples.begin(), std::min(samples.size(), capacity), out);
    return samples.size();
}

int gpuprof_bench_memory(gpuprof_bench* bench, uint64_t* free_bytes, uint64_t* total_bytes) {
    return guarded([&]() -> Status {
        if (bench == nullptr || free_bytes == nullptr || total_bytes == nullptr)
            return Error{ExitCode::usage, "bench and the output must not be NULL"};
        Result<measure::DeviceMemory> memory = bench->bench.memory();
        if (!memory.ok()) return memory.error();
        *free_bytes = memory->free_bytes;
        *total_bytes = memory->total_bytes;
        return {};
    });
}

void gpuprof_bench_free(gpuprof_bench* bench) {
    guarded([&]() -> Status {
        delete bench;
        return {};
    });
}

const char* gpuprof_bench_statistics_json(const double* samples, size_t count) {
    int failed = guarded([&]() -> Status {
        if (samples == nullptr && count > 0) return Error{ExitCode::usage, "samples must not be NULL"};
        last_json = json_of(measure::statistics_of({samples, count}));
        return {};
    });
    return failed != 0 ? nullptr : last_json.c_str();
}

const char* gpuprof_bench_compare_json(const double* baseline, size_t baseline_count, const double* candidate,
                                       size_t candidate_count, int32_t paired, double min_effect) {
    int failed = guarded([&]() -> Status {
        if ((baseline == nullptr && baseline_count > 0) || (candidate == nullptr && candidate_count > 0))
            return Error{ExitCode::usage, "samples must not be NULL"};
        if (paired != 0 && baseline_count != candidate_count)
            return Error{ExitCode::usage, fmt::format("paired samples must have equal counts, got {} and {}",
                                                      baseline_count, candidate_count)};
        if (!(min_effect >= 0)) return Error{ExitCode::usage, "min_effect must be a non-negative number"};
        measure::ComparisonOptions options{.paired = paired != 0, .two_processes = paired == 2};
        if (min_effect > 0) options.min_effect = min_effect;
        const measure::SampledRun before{{baseline, baseline_count}}, after{{candidate, candidate_count}};
        last_json = json_of(options.paired ? measure::compare(before.samples, after.samples, options)
                                           : measure::compare_runs({&before, 1}, {&after, 1}, options.min_effect));
        return {};
    });
    return failed != 0 ? nullptr : last_json.c_str();
}

int gpuprof_stopwatch_open(gpuprof_stopwatch** stopwatch) {
    return guarded([&]() -> Status {
        if (stopwatch == nullptr) return Error{ExitCode::usage, "stopwatch must not be NULL"};
        *stopwatch = nullptr;
        Result<measure::CudaStopwatch> opened = measure::CudaStopwatch::open(measure::real_clock());
        if (!opened.ok()) return opened.error();
        *stopwatch = new gpuprof_stopwatch{std::move(*opened)};
        return {};
    });
}

int gpuprof_stopwatch_start(gpuprof_stopwatch* stopwatch, uint64_t stream, int32_t hold) {
    return with(stopwatch, [&](measure::CudaStopwatch& watch) { return watch.start(stream, hold != 0); });
}

int gpuprof_stopwatch_stop(gpuprof_stopwatch* stopwatch) {
    return with(stopwatch, [](measure::CudaStopwatch& watch) { return watch.stop(); });
}

int gpuprof_stopwatch_read(gpuprof_stopwatch* stopwatch, gpuprof_lap* lap) {
    return with(stopwatch, [&](measure::CudaStopwatch& watch) -> Status {
        if (lap == nullptr || lap->size < sizeof(gpuprof_lap))
            return Error{ExitCode::usage, "gpuprof_lap.size must be sizeof(gpuprof_lap)"};
        Result<measure::Lap> found = watch.read();
        if (!found.ok()) return found.error();
        *lap = {lap->size, found->device_ns, found->beyond_ns, found->idle_wait_ns, found->held ? 1 : 0};
        return {};
    });
}

void gpuprof_stopwatch_free(gpuprof_stopwatch* stopwatch) {
    guarded([&]() -> Status {
        if (stopwatch != nullptr) stopwatch->watch.close();
        delete stopwatch;
        return {};
    });
}

}  // extern "C"
