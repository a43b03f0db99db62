// Fuzz target of benchmark documents: any bytes are refused, or are a document that is written and read again as it was, and can be
// compared with itself.
#include <string>

#include "measure/bench_comparison.h"
#include "measure/bench_document.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

std::string written(const measure::BenchDocument& document) {
    StringSink sink;
    measure::write_json(document, sink);
    return sink.text();
}

}  // namespace

void run_bench(std::string_view bytes) {
    Result<measure::BenchDocument> document = measure::read_bench_document(bytes, "fuzz");
    if (!document) return;
    std::string first = written(*document);
    Result<measure::BenchDocument> again = measure::read_bench_document(first, "fuzz");
    promise(again.ok(), "what was written is read");
    promise(written(*again) == first, "what was read again is the same");
    for (const measure::Benchmark& each : document->benchmarks) {
        const std::vector<double>& samples = each.measurement.samples;
        measure::SpeedVerdict verdict = measure::compare(samples, samples).verdict;
        promise(verdict == measure::SpeedVerdict::same || verdict == measure::SpeedVerdict::cannot_tell,
                "a benchmark is neither faster nor slower than itself");
    }
}

}  // namespace gpuprof::fuzz
