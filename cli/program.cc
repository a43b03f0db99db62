#include "cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "core/base/files/path_search.h"
#include "core/base/text/shell_words.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

// "  NAME  DOC", wrapped: DOC has a column of its own, and begins on the next line if NAME is too long. Narrow terminals have a narrower
// column.
std::string help_entry(const std::string& name, const std::string& doc, std::size_t column) {
    const int room = style_for("-").width;
    column = std::min(column, static_cast<std::size_t>(room) / 3);
    const std::string indent(column, ' ');
    bool fits = name.size() + 4 <= column;
    std::string lines = fits ? pad_right("  " + name, static_cast<int>(column)) : "";
    if (!fits) {
        for (const std::string& line : wrap(name, room - 4)) lines += (lines.empty() ? "  " : "    ") + line + "\n";
        lines += indent;
    }
    bool first = true;
    for (const std::string& line : wrap(doc, room - static_cast<int>(column))) {
        lines += (first ? "" : indent) + line + "\n";
        first = false;
    }
    return lines;
}

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
    std::string make_description(const CLI::App* app) const override { return paragraph(app->get_description()); }
    std::string make_footer(const CLI::App* app) const override {
        const std::string footer = app->get_footer();
        std::string text;
        for (std::string_view rest = footer; !rest.empty();) {
            std::string line(rest.substr(0, rest.find('\n')));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            std::size_t tab = line.find('\t');
            text += line.empty()       ? "\n"
                    : tab == line.npos ? paragraph(line)
                                       : entry(line.substr(0, tab), line.substr(tab + 1));
        }
        return text;
    }
    // The limits that few people ever set are one line.
    std::string make_group(std::string group, bool positional, std::vector<const CLI::Option*> options) const override {
        if (group != kReadLimitsGroup) return CLI::Formatter::make_group(group, positional, options);
        std::string names;
        for (const CLI::Option* option : options) names += (names.empty() ? "" : ", ") + option->get_name();
        return paragraph(fmt::format("\n{}: {} (gpu-profile help troubleshooting)", group, names));
    }
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
        return help_entry(name, doc, column_width_);
    }

    const Command& command_;
};

constexpr std::size_t kCommandColumn = 36, kShortColumn = 12;

// From the list of commands.
std::string program_help() {
    std::string text;
    auto paragraph = [&text](const std::string& words) {
        for (const std::string& line : wrap(words, style_for("-").width)) text += line + "\n";
    };
    paragraph(
        fmt::format("gpu-profile {}: where the time of a GPU program goes, and what to change", program_version()));
    text += "\nusage: gpu-profile COMMAND [ARGUMENT...]\n";
    std::string_view group;
    for (const Command* command : commands()) {
        if (command->group != group) text += fmt::format("\n{}\n", group = command->group);
        text += help_entry(fmt::format("{} {}", command->name, command->synopsis), std::string(command->doc),
                           kCommandColumn);
    }
    text +=
        "\nStart with             gpu-profile report FILE\n"
        "Help for one command   gpu-profile COMMAND --help\n"
        "Documentation          gpu-profile help [TOPIC]\n\n";
    paragraph(
        "The format of FILE is detected from its content; gzip and zstd are decompressed; - reads standard input.");
    paragraph("Times are in seconds unless they carry a unit: 464ms, 20us, 300ns.");
    text += "\nExit status\n";
    for (const ExitCodeSpec& spec : kExitCodes)
        text += help_entry(std::to_string(static_cast<int>(spec.code)), std::string(spec.doc), 5);
    return text;
}

// What most people need, for those who type the name alone.
std::string short_help() {
    std::string text = "usage: gpu-profile COMMAND [ARGUMENT...]\n\n";
    for (std::string_view name : {"record", "report", "view", "compare", "bench", "top"})
        for (const Command* command : commands())
            if (command->name == name) text += help_entry(std::string(name), std::string(command->doc), kShortColumn);
    return text + "\nall commands: gpu-profile help\n";
}

// Makes `app` print its help as this program does; to be called before the command declares its arguments.
void prepare_help(CLI::App& app, const Command& command) {
    app.name(std::string(command.name));
    app.formatter(std::make_shared<HelpFormatter>(command));
    app.set_help_flag("-h,--help", "Show this help.");
}

int finish(const Status& status) {
    if (status.ok()) return 0;
    note(status.error().message);
    return static_cast<int>(status.error().code);
}

Error usage_error(std::string message) { return {ExitCode::usage, std::move(message)}; }

// Checked before CLI11 parses anything: the first word, and what the user may have meant.
Error unknown_command(std::string_view word, const std::string& words) {
    std::vector<std::string_view> names;
    for (const Command* command : commands()) names.push_back(command->name);
    std::string hint;
    if (is_path(std::string(word)) && access(std::string(word).c_str(), X_OK) != 0)
        hint = fmt::format("; to read a file, use gpu-profile report {}", shell_quoted_file(word));
    if (hint.empty()) hint = did_you_mean(word, names);
    if (hint.empty() && !find_program(word).empty())
        hint = fmt::format("; to record a program, use gpu-profile record -- {}", words);
    if (hint.empty() && word.find_first_of("./") != std::string_view::npos)
        hint = fmt::format("; to read a file, use gpu-profile report {}", shell_quoted_file(word));
    if (hint.empty()) hint = fmt::format("; expected one of: {}", joined(names));
    return usage_error(fmt::format("unknown command '{}'{}", word, hint));
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options())
        if (!each->get_group().empty())  // not removed
            for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    return names;
}

std::string unknown_option(const CLI::App& app, std::string_view word) {
    std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string> known = option_names(app);
    std::vector<std::string_view> names(known.begin(), known.end());
    return fmt::format("unknown option '{}'{}", name, did_you_mean(name, names));
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

bool has_unknown_option(const CLI::App& app) {
    std::vector<std::string> words = app.remaining();
    return std::any_of(words.begin(), words.end(), is_option);
}

// Names an unknown option, or a surplus word.
std::string unknown_word(const CLI::App& app) {
    std::vector<std::string> words = app.remaining();
    auto option = std::find_if(words.begin(), words.end(), is_option);
    if (option == words.end()) return fmt::format("unexpected argument '{}'", words.empty() ? "" : words.front());
    return unknown_option(app, *option);
}

// CLI11's message, with a pointer to the command's help.
std::string parse_message(const CLI::ParseError& error, const CLI::App& app, const Command& command) {
    std::string what = error.what();
    what = what.substr(0, what.find('\n'));
    constexpr std::string_view kNotConverted = "Could not convert: ";  // NAME = VALUE
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) what = unknown_word(app);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && has_unknown_option(app)) what = unknown_word(app);
    constexpr std::string_view kNoValue = ": 1 required ", kMissing = " missing";  // NAME: 1 required VALUE missing
    if (std::size_t at = what.find(kNoValue); at != what.npos && what.ends_with(kMissing))
        what = fmt::format("{} needs a value: {}", what.substr(0, at),
                           what.substr(at + kNoValue.size(), what.size() - at - kNoValue.size() - kMissing.size()));
    if (std::size_t equals = what.find(" = "); what.starts_with(kNotConverted) && equals != what.npos)
        what = fmt::format("{}: expected a whole number, not '{}'",
                           what.substr(kNotConverted.size(), equals - kNotConverted.size()), what.substr(equals + 3));
    return fmt::format("{} (see gpu-profile {} --help)", what, command.name);
}

// "--args 3 -1" as "--args=3 --args=-1". Without a value the option itself stays, and CLI11 rejects it.
std::vector<std::string> spread_values(const std::vector<std::string>& words, std::string_view option) {
    auto starts_option = [](const std::string& word) {
        return word.size() > 1 && word[0] == '-' &&
               (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])));
    };
    std::vector<std::string> spread;
    for (std::size_t i = 0; i < words.size(); ++i) {
        bool takes_next = words[i] == option && !option.empty() && i + 1 < words.size() && !starts_option(words[i + 1]);
        if (!takes_next) spread.push_back(words[i]);
        while (takes_next && i + 1 < words.size() && !starts_option(words[i + 1]))
            spread.push_back(fmt::format("{}={}", option, words[++i]));
    }
    return spread;
}

// The words after `--` are the user's command: CLI11 never sees them.
void parse(CLI::App& app, const Command& command, char** first, char** end) {
    bool takes_command = command.words_after_dashes[0] != '\0';
    char** dashes = takes_command ? std::find(first, end, std::string_view("--")) : end;
    std::vector<std::string> words = spread_values({first, dashes}, command.words_after_option);
    if (dashes != end) words.emplace_back("--");
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
    if (end - dashes < 2) return;
    CLI::Option* target = app.get_option(command.words_after_dashes)->allow_extra_args(false);
    target->add_result(std::vector<std::string>(dashes + 1, end));
    target->run_callback();
}

Result<ExitCode> run_command(const Command& command, char** first, char** end) {
    CLI::App app{std::string(command.doc)};
    prepare_help(app, command);
    CommandLine line(app);
    std::function<Result<ExitCode>()> run = command.declare(line);
    try {
        parse(app, command, first, end);
    } catch (const CLI::CallForHelp&) {
        if (Status status = print(app.help()); !status.ok()) return status.error();
        return ExitCode::ok;
    } catch (const CLI::ParseError& error) {
        return usage_error(parse_message(error, app, command));
    }
    return run();
}

// An option in place of the command: unknown, or an option of `profile` without a command to run.
Error option_without_command(std::string_view word) {
    CLI::App app;
    CommandLine line(app);
    commands().front()->declare(line);
    std::vector<std::string> names = option_names(app);
    if (std::find(names.begin(), names.end(), word.substr(0, word.find('='))) == names.end())
        return usage_error(unknown_option(app, word) + " (see gpu-profile --help)");
    return usage_error(
        fmt::format("'{}' needs a command to run, as in gpu-profile [OPTIONS] -- COMMAND (see gpu-profile profile "
                    "--help)",
                    word));
}

Result<ExitCode> dispatch(int argc, char** argv) {
    if (argc < 2) {
        Status shown = print(short_help());
        return shown ? Result<ExitCode>(ExitCode::usage) : shown.error();
    }
    std::string_view first = argv[1];
    Status printed;
    // `gpu-profile [OPTIONS] -- CMD` has no command word; the `--` identifies it.
    if (std::any_of(argv + 1, argv + argc, [](const char* word) { return std::string_view(word) == "--"; }) &&
        first.substr(0, 1) == "-")
        return run_command(*commands().front(), argv + 1, argv + argc);
    if (first == "--version" || first == "-V")
        printed = print(fmt::format("gpu-profile {}\n", program_version()));
    else if (first == "--help" || first == "-h")
        printed = print(program_help());
    else if (first.substr(0, 1) == "-")
        return option_without_command(first);
    else {
        for (const Command* command : commands())
            if (command->name == first) return run_command(*command, argv + 2, argv + argc);
        std::string words;
        for (char** word = argv + 1; word != argv + argc; ++word)
            words += (words.empty() ? "" : " ") + shell_quoted(*word);
        return unknown_command(first, words);
    }
    if (!printed.ok()) return printed.error();
    return ExitCode::ok;
}

// If standard streams were closed, opened files would get their numbers, and the answer would go into one of them.
// /dev/null takes the place of a closed stream.
void fill_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) != stream)
            return;
}

}  // namespace

std::string_view program_version() { return GPUPROF_VERSION; }

int run_program(int argc, char** argv) {
    fill_standard_streams();
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), which Output handles
    // The same for the file size limit (ulimit -f). Not ignored: started commands would inherit that.
    signal(SIGXFSZ, [](int) {});
    Result<ExitCode> result = dispatch(argc, argv);
    if (!result.ok()) return finish(result.error());
    return static_cast<int>(*result);
}

}  // namespace gpuprof::cli
