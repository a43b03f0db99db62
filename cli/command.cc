#include "cli/command.h"

namespace gpuprof {

extern const Command kReportCommand;

std::span<const Command* const> commands() {
    static constexpr const Command* kCommands[] = {&kReportCommand};
    return kCommands;
}

}  // namespace gpuprof
