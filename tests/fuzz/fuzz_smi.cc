// libFuzzer target of the nvidia-smi parser: any text gives rows, troubles or messages, and every value that comes out is one
// that a device can have; a second table fed the same lines answers the same.
//
//   build/fuzz/fuzz_smi -max_total_time=60 -max_len=4096 CORPUS_DIR
#include <cstdint>
#include <cstdlib>

#include "collect/device/smi/csv.h"
#include "core/schema/plausible.h"

namespace {

using namespace gpuprof;

void check(const smi::Row& row) {
    if (row.index < 0) std::abort();
    for (const MetricSpec& spec : kMetrics) {
        std::optional<double> value = row.reading.get(spec.metric);
        if (value && !plausible(spec.metric, *value)) std::abort();
        if (!value && row.reading.values[index_of(spec.metric)] != 0) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    smi::Table first, second;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        std::optional<smi::Row> row = first.take(line), again = second.take(line);
        if (row.has_value() != again.has_value()) std::abort();
        if (row) check(*row);
        if (row && row->reading.present != again->reading.present) std::abort();
        begin = end + 1;
    }
    return 0;
}
