// `completions`: shell scripts generated from the declared options, positionals and their words, so that no option is
// missing. One writer per shell.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/output.h"

namespace gpuprof::inline cli {
namespace {

struct Flag {
    std::vector<std::string> names;  // with dashes
    std::string doc;
    bool takes_value;
    bool file;
    std::string words;  // accepted values, separated by spaces
    bool kernels;       // and handles of kernels
};

// A command as a shell sees it.
struct Shape {
    const Command* command;
    std::vector<Flag> flags;
    std::vector<std::string> positionals;  // words per position; an empty entry is a file; the last one repeats
};

bool is_file(const std::string& value) {
    return value == "FILE" || value == "FILE..." || value == "PATH" || value == "FOLDER" || value == "OUT";
}

Flag flag_of(const CLI::Option& option, const CompletionWords& completion) {
    Flag flag{.names = {},
              .doc = option.get_description(),
              .takes_value = option.get_items_expected_max() > 0,
              .file = is_file(option.get_type_name()),
              .words = fmt::format("{}", fmt::join(completion.words, " ")),
              .kernels = completion.kernels};
    for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
    return flag;
}

Shape shape_of(const Command& command) {
    Shape shape{&command, {}, {}};
    CLI::App app;
    app.set_help_flag("-h,--help", "Show this help.");
    CommandLine line(app);
    command.declare(line);
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        Flag flag = flag_of(*option, line.completion(*option));
        if (option->get_positional())
            shape.positionals.push_back(flag.words);
        else
            shape.flags.push_back(std::move(flag));
    }
    return shape;
}

std::vector<Shape> all_shapes() {
    std::vector<Shape> shapes;
    for (const Command* command : commands()) shapes.push_back(shape_of(*command));
    return shapes;
}

std::string shell_quoted(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
}

constexpr std::string_view kBashHead = R"bash(# bash completion of gpu-profile:  source <(gpu-profile completions bash)
_gpu_profile() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= flags= i position=0
    local command=${COMP_WORDS[1]-}
    _gpu_profile_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
    _gpu_profile_kernels() {
        local file count=0
        for file in "${COMP_WORDS[@]:2}"; do
            [ -f "$file" ] || continue
            count=$("${COMP_WORDS[0]}" report "$file" kernels --format csv --limit 20 2>/dev/null | tail -n +2 | wc -l)
            break
        done
        compopt -o nospace 2>/dev/null
        _gpu_profile_words "$1 $(seq -f 'k-%g=' "$count" | tr '\n' ' ')"
    }
    _gpu_profile_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); }
)bash";
constexpr std::string_view kBashTail = R"(    case $cur in -*) _gpu_profile_words "$flags"; return ;; esac
    [ -n "$words" ] && _gpu_profile_words "$words" || _gpu_profile_files
}
complete -F _gpu_profile gpu-profile
)";

std::string bash_case(const Shape& shape) {
    std::string flags, values, with_value;
    for (const Flag& flag : shape.flags) {
        flags += fmt::format("{}{}", flags.empty() ? "" : " ", fmt::format("{}", fmt::join(flag.names, " ")));
        if (!flag.takes_value) continue;
        with_value += fmt::format("{}{}", with_value.empty() ? "" : "|", fmt::format("{}", fmt::join(flag.names, "|")));
        values += fmt::format("            {}) {}; return ;;\n", fmt::join(flag.names, "|"),
                              flag.file ? "_gpu_profile_files"
                                        : fmt::format("_gpu_profile_{} '{}'", flag.kernels ? "kernels" : "words",
                                                      shell_quoted(flag.words)));
    }
    std::string positions;
    for (std::size_t i = 0; i < shape.positionals.size(); ++i)
        positions +=
            fmt::format("            {}) words='{}' ;;\n", i + 1 == shape.positionals.size() ? "*" : std::to_string(i),
                        shell_quoted(shape.positionals[i]));
    std::string text = fmt::format("    {})\n        flags='{}'\n", shape.command->name, flags);
    if (!values.empty()) text += fmt::format("        case $prev in\n{}        esac\n", values);
    text += fmt::format(
        "        for ((i = 2; i < COMP_CWORD; i++)); do\n            case ${{COMP_WORDS[i]}} in\n{}"
        "                -?*) ;;\n                *) position=$((position + 1)) ;;\n            esac\n        done\n",
        with_value.empty() ? "" : fmt::format("                {}) i=$((i + 1)) ;;\n", with_value));
    if (positions.empty()) return text + "        [[ $cur = -* ]] || return\n        ;;\n";
    return text + fmt::format("        case $position in\n{}        esac\n        ;;\n", positions);
}

std::string bash_script(const std::vector<Shape>& shapes) {
    std::string text(kBashHead);
    text += fmt::format(
        "    [ \"$COMP_CWORD\" = 1 ] && {{ _gpu_profile_words '{} --help --version'; return; }}\n    case $command "
        "in\n",
        joined(names_of(commands()), " "));
    for (const Shape& shape : shapes) text += bash_case(shape);
    return text + "    *) return ;;\n    esac\n" + std::string(kBashTail);
}

// In zsh's _arguments, a bracket ends a description and a colon ends a field.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == ':' || c == '[' || c == ']') out += '\\';
        out += c;
    }
    return out;
}

std::string zsh_script(const std::vector<Shape>& shapes) {
    std::string text =
        "#compdef gpu-profile\n# zsh completion of gpu-profile: save as _gpu-profile in a folder of $fpath\n"
        "_gpu_profile() {\n    local -a commands\n    commands=(\n";
    for (const Shape& shape : shapes)
        text += fmt::format("        '{}:{}'\n", shape.command->name, zsh_text(shape.command->doc));
    text +=
        "    )\n    (( CURRENT == 2 )) && { _describe command commands; return }\n    local command=$words[2]\n"
        "    shift words; (( CURRENT-- ))\n    case $command in\n";
    for (const Shape& shape : shapes) {
        text += fmt::format("        {})\n            _arguments", shape.command->name);
        for (const Flag& flag : shape.flags)
            for (const std::string& name : flag.names) {
                std::string action = flag.file ? "_files" : fmt::format("({})", flag.words);
                text += fmt::format(" \\\n                '{}[{}]{}'", name, zsh_text(flag.doc),
                                    flag.takes_value ? ": :" + action : "");
            }
        for (std::size_t i = 0; i < shape.positionals.size(); ++i) {
            std::string position = i + 1 == shape.positionals.size() && i > 0 ? "*" : std::to_string(i + 1);
            text += fmt::format(" \\\n                '{}: :{}'", position,
                                shape.positionals[i].empty() ? "_files" : fmt::format("({})", shape.positionals[i]));
        }
        text += "\n            ;;\n";
    }
    return text + "    esac\n}\n_gpu_profile \"$@\"\n";
}

std::string fish_script(const std::vector<Shape>& shapes) {
    std::string text = "# fish completion of gpu-profile:  gpu-profile completions fish | source\n";
    std::string names = joined(names_of(commands()), " ");
    for (const Shape& shape : shapes)
        text += fmt::format("complete -c gpu-profile -f -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n", names,
                            shape.command->name, shell_quoted(shape.command->doc));
    for (const Shape& shape : shapes) {
        std::string seen =
            fmt::format("complete -c gpu-profile -n '__fish_seen_subcommand_from {}'", shape.command->name);
        bool files = std::any_of(shape.positionals.begin(), shape.positionals.end(),
                                 [](const auto& words) { return words.empty(); });
        text += seen + (files ? " -F\n" : " -f\n");
        for (const std::string& words : shape.positionals)
            if (!words.empty()) text += fmt::format("{} -a '{}'\n", seen, shell_quoted(words));
        for (const Flag& flag : shape.flags) {
            text += seen;
            for (const std::string& name : flag.names)
                text += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (flag.takes_value) text += flag.file ? " -r" : fmt::format(" -x -a '{}'", shell_quoted(flag.words));
            text += fmt::format(" -d '{}'\n", shell_quoted(flag.doc));
        }
    }
    return text;
}

struct Shell {
    std::string_view name;
    std::string (*script)(const std::vector<Shape>&);
};
constexpr Shell kShells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

std::function<Result<ExitCode>()> declare_completions(CommandLine& line) {
    auto shell = std::make_shared<std::string>();
    line.option("SHELL", *shell, "Shell to generate the script for: bash, zsh or fish.")
        .required()
        .suggest(names_of(kShells))
        .value("");
    return [shell]() -> Result<ExitCode> {
        for (const Shell& known : kShells) {
            if (known.name != *shell) continue;
            if (Status printed = print(known.script(all_shapes())); !printed.ok()) return printed.error();
            return ExitCode::ok;
        }
        return unknown_choice("shell", *shell, names_of(kShells));
    };
}

}  // namespace

extern const Command kCompletionsCommand;
const Command kCompletionsCommand{"completions", "Setup and reference", "SHELL",
                                  "Print a completion script for bash, zsh or fish.", declare_completions};

}  // namespace gpuprof::cli
