// Fuzz target of the nvidia-smi parser: any text gives rows, troubles or messages, and every value that comes out is one
// that a device can have; a second table fed the same lines answers the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "collect/device/smi/smi_csv.h"
#include "core/schema/plausible.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

void check(const nvidia_smi::Row& row) {
    if (row.index < 0) std::abort();
    for (const MetricSpec& spec : kMetrics) {
        std::optional<double> value = row.reading.get(spec.metric);
        if (value && !plausible(spec.metric, *value)) std::abort();
        if (!value && row.reading.values[index_of(spec.metric)] != 0) std::abort();
    }
}

}  // namespace

void run_smi(std::string_view bytes) {
    nvidia_smi::Table first, second;
    for (std::size_t begin = 0; begin < bytes.size();) {
        std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
        std::string_view line = bytes.substr(begin, end - begin);
        std::optional<nvidia_smi::Row> row = first.take(line), again = second.take(line);
        if (row.has_value() != again.has_value()) std::abort();
        if (row) check(*row);
        if (row && row->reading.present != again->reading.present) std::abort();
        begin = end + 1;
    }
}

}  // namespace gpuprof::fuzz
