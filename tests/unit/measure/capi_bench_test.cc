// The C interface of benchmarks, as C and ctypes see it: on the fake driver, and by the host's clock for real.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "capi/gpuprof.h"
#include "tests/unit/measure/sim_fixture.h"

namespace gpuprof::measure {
namespace {

int kernel_0(void*) { return SimStage::launch(0); }
int count_up(void* user) { return ++*static_cast<int*>(user), 0; }
int square_root(void* user) {
    auto* value = static_cast<double*>(user);
    for (int i = 0; i < 300; ++i) *value = std::sqrt(*value + i);
    return 0;
}

gpuprof_bench_options quick_options(const char* timer) {
    gpuprof_bench_options options = {};
    options.size = sizeof options;
    options.timer = timer;
    options.min_time_ns = 2'000'000, options.timeout_ns = 300'000'000, options.min_warmup_ns = 1'000'000;
    return options;
}

gpuprof_bench_work work_of(gpuprof_bench_function call, void* user = nullptr) {
    gpuprof_bench_work work = {};
    work.size = sizeof work;
    work.call = call, work.user = user;
    return work;
}

class Bench {
public:
    explicit Bench(const gpuprof_bench_options& options) { code = gpuprof_bench_open(&options, &bench); }
    ~Bench() { gpuprof_bench_free(bench); }
    gpuprof_bench* bench = nullptr;
    int code = 0;
};

TEST(CBench, MeasuresByEvents) {
    SimStage stage("kernel 0 constant 10000");
    Bench bench(quick_options("cuda"));
    ASSERT_EQ(bench.code, 0) << gpuprof_last_error();
    EXPECT_STREQ(gpuprof_bench_timer(bench.bench), "cuda events");
    EXPECT_EQ(gpuprof_bench_json(bench.bench), nullptr);
    gpuprof_bench_work work = work_of(kernel_0);
    ASSERT_EQ(gpuprof_bench_run(bench.bench, &work), 0) << gpuprof_last_error();
    std::vector<double> samples(100'000);
    samples.resize(gpuprof_bench_samples(bench.bench, 0, samples.data(), samples.size()));
    ASSERT_GE(samples.size(), 20U);
    EXPECT_NEAR(samples[7], 10'000, 0.01);
    EXPECT_EQ(gpuprof_bench_samples(bench.bench, 1, nullptr, 0), 0U);
    std::uint64_t free = 0, total = 0;
    EXPECT_EQ(gpuprof_bench_memory(bench.bench, &free, &total), 0);
    EXPECT_LT(free, total);
}

TEST(CBench, MeasuresFunctionsOfTheHost) {
    Bench bench(quick_options("host"));
    double value = 2;
    gpuprof_bench_work work = work_of(square_root, &value);
    work.name = "square root";
    ASSERT_EQ(gpuprof_bench_run_pair(bench.bench, &work, &work), 0) << gpuprof_last_error();
    std::string json = gpuprof_bench_json(bench.bench);
    EXPECT_NE(json.find("\"name\": \"square root\", \"timer\": \"host\""), std::string::npos) << json.substr(0, 300);
    EXPECT_NE(json.find("\"verdict\": "), std::string::npos);
    std::uint64_t free = 0, total = 0;
    EXPECT_EQ(gpuprof_bench_memory(bench.bench, &free, &total), 4);
}

TEST(CBench, PreparesBeforeEveryCall) {
    gpuprof_bench_options options = quick_options("host");
    options.stop = "samples", options.min_samples = 50;
    Bench bench(options);
    int calls = 0;
    gpuprof_bench_work work = work_of([](void*) { return 0; }, &calls);
    work.prepare = count_up;
    ASSERT_EQ(gpuprof_bench_run(bench.bench, &work), 0);
    EXPECT_GE(calls, 50);
    EXPECT_NE(std::string(gpuprof_bench_json(bench.bench)).find("\"batch\": 1,"), std::string::npos);
}

TEST(CBench, FallsBackToTheHostAndSaysWhy) {
    setenv("GPUPROF_CUDA", "/nowhere/libcuda.so.1", 1);
    Bench bench(quick_options(nullptr));
    EXPECT_STREQ(gpuprof_bench_timer(bench.bench), "host");
    double value = 2;
    gpuprof_bench_work work = work_of(square_root, &value);
    ASSERT_EQ(gpuprof_bench_run(bench.bench, &work), 0);
    EXPECT_NE(std::string(gpuprof_bench_json(bench.bench)).find("no CUDA driver found"), std::string::npos);
    Bench strict(quick_options("cuda"));
    EXPECT_EQ(strict.code, 3);
    unsetenv("GPUPROF_CUDA");
}

TEST(CBench, RefusesWhatMakesNoSense) {
    auto refused = [](auto&& change) {
        gpuprof_bench_options options = quick_options("host");
        change(options);
        Bench bench(options);
        EXPECT_EQ(bench.bench, nullptr);
        EXPECT_STRNE(gpuprof_last_error(), "");
        return bench.code;
    };
    EXPECT_EQ(refused([](auto& options) { options.size = 8; }), 2);
    EXPECT_EQ(refused([](auto& options) { options.timer = "sundial"; }), 2);
    EXPECT_EQ(refused([](auto& options) { options.stop = "never"; }), 2);
    EXPECT_EQ(refused([](auto& options) { options.precision = std::nan(""); }), 2);
    EXPECT_EQ(refused([](auto& options) { options.batch = -1; }), 2);
    EXPECT_EQ(refused([](auto& options) { options.min_samples = 10, options.max_samples = 5; }), 2);
    Bench bench(quick_options("host"));
    gpuprof_bench_work work = work_of(nullptr);
    EXPECT_EQ(gpuprof_bench_run(bench.bench, &work), 2);
    EXPECT_EQ(gpuprof_bench_run(bench.bench, nullptr), 2);
    EXPECT_EQ(gpuprof_bench_run(nullptr, &work), 2);
    work = work_of([](void*) { return 9; });
    EXPECT_EQ(gpuprof_bench_run(bench.bench, &work), 4);
    EXPECT_STREQ(gpuprof_last_error(), "'work' ended the benchmark: its call returned 9");
}

TEST(CBench, JudgesSamplesFromAnywhere) {
    std::vector<double> slow(50, 20.0), fast(50, 10.0);
    std::string json = gpuprof_bench_compare_json(slow.data(), 50, fast.data(), 50, 1, 0);
    EXPECT_NE(json.find("\"speedup\": 2.0,"), std::string::npos) << json;
    EXPECT_NE(json.find("\"verdict\": \"faster\""), std::string::npos);
    EXPECT_EQ(gpuprof_bench_compare_json(slow.data(), 50, fast.data(), 49, 1, 0), nullptr);
    EXPECT_EQ(gpuprof_bench_compare_json(slow.data(), 50, fast.data(), 50, 0, -1), nullptr);
    json = gpuprof_bench_statistics_json(slow.data(), 50);
    EXPECT_NE(json.find("\"median_ns\": 20.0,"), std::string::npos) << json;
    json = gpuprof_bench_statistics_json(nullptr, 0);
    EXPECT_NE(json.find("\"median_ns\": null"), std::string::npos) << json;
}

}  // namespace
}  // namespace gpuprof::measure
