// A result of `bench` comes back from its JSON as it was written, and absent figures stay absent.
#include "measure/bench_document.h"

#include <gtest/gtest.h>

namespace gpuprof::measure {
namespace {

std::string json_of(const BenchDocument& document) {
    StringSink sink;
    write_json(document, sink);
    return sink.text();
}

// Every kind of member: text that needs escapes, present and absent optionals, lists, lists of objects.
BenchDocument example() {
    BenchDocument document;
    document.version = "1", document.created = "now", document.command_line = "bench \"x\"";
    document.machine = {"h", "p", 4, 1.5};
    Benchmark& function = document.benchmarks.emplace_back();
    Measurement& m = function.measurement;
    m.name = "kernel", m.timer = "cuda events", m.device = 1, m.device_name = "GPU", m.cold = true, m.batch = 3;
    m.calls = 12, m.samples = {1.5, 2.25, 1e9}, m.statistics = statistics_of(m.samples);
    m.warmup = {.calls = 7, .time = 5, .first_ns = 9.5, .last_ns = 1.25, .settled = true};
    m.host_ns = 2.5, m.throttled_kept = 2, m.conditions.readings = 3, m.conditions.throttle = "power";
    m.bytes_per_s = 1e12, m.bytes_pct = 50, m.peak_source = "a document";
    m.stopped = StopReason::precise, m.sampling_time = 77, m.notes = {"one", "two"};
    function.settings = StoppingOptions{.rule = StopRule::entropy, .min_samples = 5};
    function.memory.emplace().source = "torch";
    function.memory->peak_allocated = 4096;
    Benchmark& program = document.benchmarks.emplace_back();
    program.measurement.name = "true", program.measurement.timer = "host";
    program.measurement.statistics = statistics_of({});
    ProgramUse& use = program.program.emplace();
    use.runs.resize(2);
    use.runs[1].peak_memory = 5, use.runs[1].signal = 9;
    use.no_device_because = "none";
    return document;
}

TEST(BenchDocument, ComesBackAsItWasWritten) {
    std::string written = json_of(example());
    Result<BenchDocument> read = read_bench_document(written, "file");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(json_of(*read), written);
    const Measurement& m = read->benchmarks[0].measurement;
    EXPECT_EQ(m.device, 1);
    EXPECT_EQ(m.stopped, StopReason::precise);
    EXPECT_EQ(m.statistics.median, 2.25);
    EXPECT_FALSE(m.stray_ns || m.energy_per_call_j);
    EXPECT_EQ(read->benchmarks[0].settings->rule, StopRule::entropy);
    EXPECT_EQ(read->benchmarks[1].measurement.device, -1);
    EXPECT_FALSE(read->benchmarks[1].settings || read->benchmarks[1].memory);
    EXPECT_EQ(read->benchmarks[1].program->runs[1].signal, 9);
}

TEST(BenchDocument, StatisticsAreThoseOfTheSamples) {
    std::string written = json_of(example());
    std::size_t at = written.find("\"median_ns\": 2.25");
    ASSERT_NE(at, std::string::npos);
    written.replace(at, 17, "\"median_ns\": 9.75");
    Result<BenchDocument> read = read_bench_document(written, "file");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->benchmarks[0].measurement.statistics.median, 2.25);
}

}  // namespace
}  // namespace gpuprof::measure
