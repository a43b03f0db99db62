#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/program.h"
#include "cli/terminal.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
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
        std::string_view blank = command_.synopsis[0] == '\0' ? "" : " ";
        return fmt::format("\nusage: gpu-profile {}{}{}\n", command_.name, blank, command_.synopsis);
    }
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
        text = CLI::detail::find_and_replace(std::move(text), "\n\n\n", "\n\n");
        return text.substr(0, text.find_last_not_of('\n') + 1) + "\n";
    }
    std::string make_footer(const CLI::App* app) const override { return paragraph(app->get_footer()); }
    // The name and its value, then the description, wrapped. A value's range and default are part of the description.
    std::string make_option(const CLI::Option* option, bool positional) const override {
        std::string value = option->get_type_name();
        bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
        std::string name = CLI::detail::find_and_replace(option->get_name(positional, !positional), ",--", ", --");
        if (positional) {
            if (!value.empty() && value != "TEXT") name = value;
            if (many && !name.ends_with("...")) name += "...";
        } else {
            name = name.substr(0, name.find('{'));  // a flag that stands for `false`
            if (option->get_type_size() != 0 && !value.empty()) name += " " + value;
        }
        return entry(name, option->get_description());
    }

private:
    static std::string paragraph(const std::string& text) {
        std::string lines;
        for (const std::string& line : wrap(text, std::max(40, style_for("-").width))) lines += line + "\n";
        return lines;
    }
    std::string entry(const std::string& name, const std::string& doc) const {
        std::string indent(column_width_, ' '), text = "  " + name;
        bool fits = text.size() + 2 <= column_width_;
        std::string lines = fits ? pad_right(text, static_cast<int>(column_width_)) : text + "\n" + indent;
        int width = std::max(40, style_for("-").width - static_cast<int>(column_width_));
        bool first = true;
        for (const std::string& line : wrap(doc, width)) lines += (first ? "" : indent) + line + "\n", first = false;
        return lines;
    }

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

}  // namespace gpuprof::cli
