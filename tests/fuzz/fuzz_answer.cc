// Fuzz target of the analyses: a recording made of chunks (chunks.h), so that every table can hold any numbers, or any file that an
// importer takes. Every analysis answers, or says why not; no number of a file makes one overflow.
#include <string>

#include "core/analyze/analysis.h"
#include "core/importers/importer.h"
#include "tests/fuzz/chunks.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/target.h"

namespace gpuprof::fuzz {

void run_answer(std::string_view bytes) {
    Choices choices(bytes);
    bool chunks = choices.byte() % 2 == 1;
    std::string file = chunks ? chunks_of(choices.rest()) : std::string(choices.rest());
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", file);
    if (!source) return;
    Result<Trace> trace = import_trace(**source);
    if (!trace) return;
    Study study(*trace, Options{});
    for (const Analysis* analysis : analyses()) {
        Result<ResultTable> answer = analysis->run(study);
        if (answer) promise(answer->columns().size() == analysis->columns.size(), "the columns that were declared");
    }
}

}  // namespace gpuprof::fuzz
