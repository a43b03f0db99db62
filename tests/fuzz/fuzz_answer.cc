// Fuzz target of the analyses: a recording made of chunks (chunks.h), so that every table can hold any numbers, or any file that an
// importer takes. Every analysis answers, or says why not; no number of a file makes one overflow.
#include "present/answer/analyses.h"
#include "tests/fuzz/fuzz_chunks.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {

void run_answer(std::string_view bytes) {
    std::optional<Trace> trace = any_recording(bytes);
    if (!trace) return;
    Facts facts(*trace, Options{});
    for (const Analysis* analysis : analyses()) {
        Result<ResultTable> answer = analysis->run(facts);
        if (answer) promise(answer->columns().size() == analysis->columns.size(), "the columns that were declared");
    }
}

}  // namespace gpuprof::fuzz
