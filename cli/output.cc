#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>

#include "core/base/utf8.h"

namespace gpuprof {

Status print(std::string_view text) {
    Result<Output> output = Output::open("-");
    output->write(text);
    return output->close();
}

void note(std::string_view line) {
    fmt::print(stderr, "gpu-profile: {}\n", printable(line));  // a file name may hold anything; a message has one line
}

}  // namespace gpuprof
