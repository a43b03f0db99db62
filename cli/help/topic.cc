// `help`: the commands and the pages of the documentation; `help TOPIC`: one page.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/help/help_markdown.h"
#include "cli/help/page_text.h"
#include "cli/help/pages.h"
#include "cli/terminal.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

struct Part {
    std::string_view folder, heading;
};
// Every folder of pages, in the order of the list. Commands come from commands().
constexpr Part kParts[] = {
    {"", "Install"},
    {"start", "Start"},
    {"guides", "Guides"},
    {"reference/formats", "Files of other tools"},
    {"reference", "Reference"},
    {"how-it-works", "How it works"},
};

std::string topic_line(std::string_view name, std::string_view doc, const Style& style) {
    constexpr int kColumn = 24;
    std::string text;
    for (const std::string& line : wrap(std::string(doc), style.width - kColumn))
        text += fmt::format("{:<{}}{}\n", text.empty() ? fmt::format("  {}  ", name) : "", kColumn, line);
    return text;
}

std::string all_topics(const Style& style) {
    Paint paint(style.colour);
    std::string text = fmt::format("usage: gpu-profile help TOPIC\n\n{}\n", paint.bold("Commands"));
    for (const Command* command : commands()) text += topic_line(command->name, command->doc, style);
    for (const Part& part : kParts) {
        text += fmt::format("\n{}\n", paint.bold(part.heading));
        for (const HelpPage& page : help_pages())
            if (page.folder == part.folder) text += topic_line(page.name, page.title, style);
    }
    return text;
}

// The topics of the pages that it links to.
std::string see_also(const HelpPage& shown, const Style& style) {
    std::vector<std::string> names = linked_pages(shown.text);
    std::erase_if(names, [&](const std::string& name) {
        return name == shown.name || std::none_of(help_pages().begin(), help_pages().end(),
                                                  [&](const HelpPage& page) { return page.name == name; });
    });
    if (names.empty()) return "";
    return page_text(fmt::format("## See also\n\n{} (gpu-profile help TOPIC)\n", fmt::join(names, ", ")), style);
}

Result<ExitCode> help(const std::string& topic) {
    Style style = style_for("-");
    std::string text;
    for (const HelpPage& page : help_pages())
        if (page.name == topic) text = page_text(page.text, style) + '\n' + see_also(page, style);
    if (topic.empty()) text = all_topics(style);
    if (text.empty()) {
        std::string hint = did_you_mean(topic, names_of(help_pages()));
        return Error{ExitCode::usage, fmt::format("unknown topic '{}'{}", topic,
                                                  hint.empty() ? "; gpu-profile help lists the topics" : hint)};
    }
    if (Status printed = print_paged(text); !printed.ok()) return printed.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_help(CommandLine& line) {
    auto topic = std::make_shared<std::string>();
    line.option("TOPIC", *topic, "A command or a page (default: list all topics).")
        .suggest(names_of(help_pages()))
        .value("");
    return [topic] { return help(*topic); };
}

}  // namespace

extern const Command kHelpCommand;
const Command kHelpCommand{"help", "Setup and reference", "[TOPIC]",
                           "Show a page of the documentation, or list all pages.", declare_help};

}  // namespace gpuprof::cli
