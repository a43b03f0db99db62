#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/program.h"

namespace gpuprof {
namespace {

// CLI11's formatter with the usage line and the headings of this program.
class HelpFormatter final : public CLI::Formatter {
public:
    explicit HelpFormatter(const Command& command) : command_(command) {
        column_width(28);
        label("REQUIRED", "");
        label("Positionals", "Arguments");
    }
    std::string make_usage(const CLI::App*, std::string) const override {
        return fmt::format("\nusage: gpu-profile {} {}\n", command_.name, command_.synopsis);
    }

private:
    const Command& command_;
};

}  // namespace

std::string program_help() {
    std::string text = fmt::format(
        "gpu-profile {}: where the time of a GPU program goes, and what to change\n\n"
        "usage: gpu-profile COMMAND [ARGUMENT...]\n",
        program_version());
    std::string_view group;
    for (const Command* command : commands()) {
        if (command->group != group) text += fmt::format("\n{}\n", group = command->group);
        text += fmt::format("  {:<32}  {}\n", fmt::format("{} {}", command->name, command->synopsis), command->doc);
    }
    text +=
        "\nStart with             gpu-profile report FILE\n"
        "Help for one command   gpu-profile COMMAND --help\n"
        "Documentation          gpu-profile help [TOPIC]\n\n"
        "The format of FILE is detected from its content; gzip and zstd are decompressed; - reads standard input.\n"
        "Times are in seconds unless they carry a unit: 464ms, 20us, 300ns.\n\n"
        "Exit status\n";
    for (const ExitCodeSpec& spec : kExitCodes)
        text += fmt::format("  {}  {}\n", static_cast<int>(spec.code), spec.doc);
    return text;
}

void prepare_help(CLI::App& app, const Command& command) {
    app.name(std::string(command.name));
    app.formatter(std::make_shared<HelpFormatter>(command));
    app.set_help_flag("-h,--help", "Show this help.");
}

}  // namespace gpuprof
