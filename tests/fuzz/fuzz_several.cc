// Fuzz target of several recordings as one job: up to four files, each recognised by its content, two bytes of length before each. What is
// read of one file alone is in the whole, whatever the order of the files.
#include <string>
#include <utility>
#include <vector>

#include "core/model/build/merge_traces.h"
#include "io/importers/importer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

constexpr std::size_t kMaxFiles = 4;

std::vector<JobPart> batch_of(const std::vector<std::string_view>& files) {
    std::vector<JobPart> parts;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::string name(1, static_cast<char>('a' + i));
        Result<std::unique_ptr<Source>> source = memory_source(name, files[i]);
        if (!source) continue;
        Result<Trace> trace = import_trace(**source);
        if (trace) parts.push_back({name, std::move(trace).value()});
    }
    return parts;
}

// Of work, calls and samples, which no join may drop.
std::size_t rows_of_work(const Trace& trace) {
    const Tables& tables = trace.tables();
    return tables.kernel.rows + tables.memcpy.rows + tables.memset.rows + tables.api_call.rows + tables.op.rows +
           tables.range.rows + tables.sample.rows + tables.memory_event.rows + tables.call_node.rows;
}

}  // namespace

void run_several(std::string_view bytes) {
    std::vector<std::string_view> files;
    for (Choices choices(bytes); !choices.empty() && files.size() < kMaxFiles;)
        files.push_back(choices.take(choices.two_bytes()));
    std::vector<JobPart> parts = batch_of(files);
    if (parts.empty()) return;
    std::size_t rows = 0;
    for (const JobPart& part : parts) rows += rows_of_work(part.trace);
    std::vector<JobPart> reversed = batch_of(files);
    std::reverse(reversed.begin(), reversed.end());
    Trace whole = merge_traces(std::move(parts), Origin{}, Batch{});
    promise(rows_of_work(whole) == rows, "every row of every file");
    promise(whole.links().kernel_launch.size() == whole.kernel().rows, "every kernel has its place among the links");
    Trace other = merge_traces(std::move(reversed), Origin{}, Batch{});
    promise(rows_of_work(other) == rows, "whatever the order of the files");
}

}  // namespace gpuprof::fuzz
