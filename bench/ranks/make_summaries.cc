// Writes the summaries of a job, a file for each rank, as `ranks reduce` writes them. The job is that of large_job.h with a
// slow rank in the middle; the answer about it then costs what it costs from the cache.
//   make_summaries FOLDER RANKS STEPS [COLLECTIVES_PER_STEP]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "bench/ranks/large_job.h"
#include "core/base/files/file_sink.h"
#include "io/exporters/capture_export.h"

namespace {

using namespace gpuprof;

// Summaries in memory at once: the job is simulated again for each part of its ranks.
constexpr std::int32_t kPart = 1'000;

Status write(const Trace& summary, const std::string& path) {
    Result<FileSink> out = FileSink::open(path);
    if (!out.ok()) return out.error();
    Status written = write_capture(summary, *out, {});
    return written ? out->close() : written;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return fmt::print(stderr, "usage: make_summaries FOLDER RANKS STEPS [COLLECTIVES_PER_STEP]\n"), 2;
    int ranks = std::atoi(argv[2]), steps = std::atoi(argv[3]), collectives = argc > 4 ? std::atoi(argv[4]) : 42;
    for (std::int32_t first = 0; first < ranks; first += kPart) {
        std::int32_t count = std::min(kPart, ranks - first);
        LargeJob job(ranks, steps, collectives, ranks / 2, {first, count});
        for (std::int32_t rank = 0; rank < count; ++rank) {
            Status written = write(job.finish(rank), fmt::format("{}/rank{:05}.gpuprof", argv[1], first + rank));
            if (!written) return fmt::print(stderr, "{}\n", written.error().message), 6;
        }
    }
    return 0;
}
