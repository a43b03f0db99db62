// `tune`: an investigation from the first recording to the last accepted change. The Python package does the work
// (python/gpu_profile/tuning) by running this program's other commands. This file declares the arguments and replaces
// this process with an interpreter (cli/python_package.h).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/python_package.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kTuneWords[] = {"begin", "trial", "status", "next", "again", "report", "accept", "reject"};

struct TuneArguments {
    std::vector<std::string> words;
    std::shared_ptr<std::vector<std::string>> passed = std::make_shared<std::vector<std::string>>();
};

bool is_action(std::string_view word) { return std::ranges::find(kTuneWords, word) != std::end(kTuneWords); }

Result<ExitCode> tune(const TuneArguments& arguments, const CommandLine& line) {
    std::vector<std::string> extras = line.remaining(), given = arguments.words;
    bool is_command = std::ranges::find(extras, "--") != extras.end();
    if (is_command && !given.empty() && is_action(given[0]))
        return Error{ExitCode::usage, fmt::format("no word is expected before --: '{}' uses the command with which the "
                                                  "investigation began",
                                                  given[0])};
    if (!is_command && given.empty()) given = {"status"};
    if (!is_command && !is_action(given[0]))
        return unknown_choice("word", given[0], {std::begin(kTuneWords), std::end(kTuneWords)});
    Result<std::vector<std::string>> words = python_words("tune", "tuning");
    if (!words.ok()) return words.error();
    words->push_back(is_command ? "begin" : given[0]);
    words->insert(words->end(), arguments.passed->begin(), arguments.passed->end());
    words->push_back("--");
    words->insert(words->end(), given.begin() + (is_command ? 0 : 1), given.end());
    return become_python("tune", std::move(*words));
}

constexpr std::string_view kTuneFormats[] = {"text", "json"};

constexpr PassedOption kPassedByTune[] = {
    {"--folder", "FOLDER", "Folder of the investigation (default: tune)."},
    {"--project", "FILE", "JSON file with the command and options; a new investigation takes them from it."},
    {"--record", "OPTIONS", "Options of record for every recording, as one word: '--memory --steps 10:20'."},
    {"--repeat", "N", "Recordings of each state; without it 3 to 5, until their noise is below 2 %.",
     PassedOption::whole},
    {"--recording", "FILE", "Take this recording instead of running the command; may be repeated."},
    {"--change", "CHANGE", "trial: the change of whatif whose prediction is checked; may be repeated."},
    {"--max-memory-mb", "MB", "trial: most device memory, or the trial is rejected.", PassedOption::number},
    {"--evaluate", "FILE", "trial: Python file whose kernel must give the results of --evaluate-baseline."},
    {"--evaluate-baseline", "FILE", "trial: the Python file before the change."},
    {"--inputs", "FILE", "trial: inputs for the evaluation, as for evaluate."},
    {"--because", "TEXT", "accept, reject: the reason."},
    {"--yes", "", "trial, again: run the command of an investigation that you did not begin, without a question."},
    {"--format", "FORMAT", "status, next: text or json (default: text).", PassedOption::text, kTuneFormats},
};

std::function<Result<ExitCode>()> declare_tune(CommandLine& line) {
    auto arguments = std::make_shared<TuneArguments>();
    line.option("WHAT", arguments->words,
                "A new investigation (-- CMD..., or begin with --recording), a trial (trial NOTE), status, next, "
                "again (measure what is kept anew), report, or a decision of your own (accept N, reject N).")
        .suggest(kTuneWords)
        .value("");
    declare_passed(line, kPassedByTune, arguments->passed);
    return [arguments, &line] { return tune(*arguments, line); };
}

}  // namespace

extern const Command kTuneCommand;
const Command kTuneCommand{"tune",
                           "Analyse recordings",
                           "-- CMD... | trial NOTE | status | next | again | report",
                           "Keep an investigation: noise, what to try, what each change gave, what was kept.",
                           declare_tune,
                           "WHAT"};

}  // namespace gpuprof::cli
