#include "cli/command.h"

namespace gpuprof::inline cli {

extern const Command kProfileCommand;
extern const Command kTopCommand;
extern const Command kServeCommand;
extern const Command kRecordCommand;
extern const Command kTriggerCommand;
extern const Command kCountersCommand;
extern const Command kReportCommand;
extern const Command kQueryCommand;
extern const Command kViewCommand;
extern const Command kCompareCommand;
extern const Command kWhatIfCommand;
extern const Command kTuneCommand;
extern const Command kMcpCommand;
extern const Command kRanksCommand;
extern const Command kHistoryCommand;
extern const Command kExportCommand;
extern const Command kScrubCommand;
extern const Command kKernelInfoCommand;
extern const Command kBenchCommand;
extern const Command kEvaluateCommand;
extern const Command kSchemaCommand;
extern const Command kDoctorCommand;
extern const Command kCompletionsCommand;
extern const Command kHelpCommand;

std::span<const Command* const> commands() {
    static constexpr const Command* kCommands[] = {
        &kProfileCommand,  &kTopCommand,    &kServeCommand,       &kRecordCommand, &kTriggerCommand,
        &kCountersCommand, &kReportCommand, &kQueryCommand,       &kViewCommand,   &kCompareCommand,
        &kWhatIfCommand,   &kTuneCommand,   &kMcpCommand,         &kRanksCommand,  &kHistoryCommand,
        &kExportCommand,   &kScrubCommand,  &kKernelInfoCommand,  &kBenchCommand,  &kEvaluateCommand,
        &kSchemaCommand,   &kDoctorCommand, &kCompletionsCommand, &kHelpCommand};
    return kCommands;
}

}  // namespace gpuprof::cli
