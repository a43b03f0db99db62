// Times two ways to add up numbers with gpu-profile's benchmark harness. Prints a table, and whether the second one is faster.
// The default timer uses CUDA events. These functions run on the CPU, so the host's clock is used.
#include <cstdio>
#include <numeric>
#include <vector>

#include "core/base/files/sink.h"
#include "measure/bench.h"
#include "present/report/report.h"

int main() {
    std::vector<float> values(100'000, 0.5F);
    volatile float result = 0;
    auto one_by_one = [&] { result = std::accumulate(values.begin(), values.end(), 0.0F); };
    auto four_sums = [&] {
        float sums[4] = {};
        for (std::size_t i = 0; i < values.size(); ++i) sums[i % 4] += values[i];
        result = sums[0] + sums[1] + sums[2] + sums[3];
    };

    gpuprof::measure::BenchOptions options;
    options.timer = "host";
    options.run.stopping.timeout = 2'000'000'000;
    options.run.bytes = static_cast<double>(values.size() * sizeof(float));
    auto bench = gpuprof::measure::Bench::open(options);
    if (!bench) return std::fprintf(stderr, "%s\n", bench.error().message.c_str()), 1;
    auto found = bench->compare(one_by_one, four_sums);
    if (!found) return std::fprintf(stderr, "%s\n", found.error().message.c_str()), 1;

    const gpuprof::measure::Measurement measured[] = {found->baseline, found->candidate};
    const gpuprof::ResultTable table = gpuprof::measure::table_of(measured);
    gpuprof::Report report;
    report.tables = std::span(&table, 1);
    gpuprof::StringSink sink;
    gpuprof::write_csv(report, {}, sink);
    std::printf("%s", sink.text().c_str());
    const gpuprof::measure::Comparison& compared = found->comparison;
    std::printf("%s: %s\n", std::string(name_of(compared.verdict)).c_str(), compared.reason.c_str());
}
