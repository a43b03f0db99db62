// Fuzz target of cubins: any bytes give functions with lines, or an error, and a hint about other files. Offsets lie inside their
// functions, and every range of lines can be found again.
#include "io/cubin/cubin.h"
#include "io/cubin/line_table.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {

void run_cubin(std::string_view bytes) {
    promise(!cubin::what_instead(bytes, "FILE").empty(), "there is a hint for every file");
    Result<cubin::Cubin> read = cubin::read_cubin(bytes);
    if (!read.ok()) return;
    promise(read->architecture > 0, "a cubin has an architecture");
    Result<cubin::LineTable> lines = cubin::LineTable::read(*read);
    if (!lines.ok()) return;
    constexpr std::size_t kFunctions = 8;  // each may cover the whole file
    for (std::size_t i = 0; i < read->functions.size() && i < kFunctions; ++i) {
        const cubin::Function& function = read->functions[i];
        promise(function.start + function.code_bytes <= read->elf.sections[function.section].bytes.size(),
                "a function lies in its section");
        promise(lines->covers(function) == !lines->ranges(function).empty(), "a function with a line has a range");
        for (const cubin::SourceRange& range : lines->ranges(function)) {
            promise(range.bytes > 0 && range.offset + range.bytes <= function.code_bytes,
                    "a range lies in its function");
            promise(lines->place(function, range.offset) == range.place, "a range has its place");
        }
    }
}

}  // namespace gpuprof::fuzz
