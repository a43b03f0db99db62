// Memory and time of the statistics over many samples: bench_series [SAMPLES] (default: 10 million).
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "collect/device/summary.h"
#include "core/base/clock.h"

namespace {

double resident_mib() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace gpuprof;
    long samples = argc > 1 ? std::atol(argv[1]) : 10'000'000;
    constexpr std::size_t kKept = 65'536;
    DeviceSeries series(SampledDevice{}, kKept, 10'000'000);
    Reading reading;
    for (Metric metric : {Metric::util_gpu, Metric::util_mem, Metric::mem_used, Metric::power, Metric::temp,
                          Metric::sm_clock, Metric::mem_clock, Metric::throttle})
        reading.set(metric, 50);
    double before = 0;
    TimeNs begun = monotonic_ns();
    for (long i = 0; i < samples; ++i) {
        reading.time += 10'000'000;
        reading.set(Metric::util_gpu, static_cast<double>(i % 101));
        series.add(reading, 0);
        if (i == static_cast<long>(kKept)) before = resident_mib();
    }
    auto each = static_cast<double>(monotonic_ns() - begun) / static_cast<double>(samples);
    GpuSummary summary = series.summary({0, reading.time});
    fmt::print(
        "{} samples: {:.0f} ns each; memory {:.1f} MiB after {}, {:.1f} MiB at the end; mean {:.3f} %, median {:.1f} "
        "%\n",
        samples, each, before, kKept, resident_mib(), *summary.util_gpu_mean, *summary.util_gpu_p50);
}
