#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>

namespace gpuprof {

Status print(std::string_view text) {
    Result<Output> output = Output::open("-");
    output->write(text);
    return output->close();
}

void note(std::string_view line) {
    std::string text(line);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // a file name may hold a line break; a message has one line
    fmt::print(stderr, "gpu-profile: {}\n", text);
}

}  // namespace gpuprof
