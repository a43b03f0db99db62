// `bench`: measures how long something takes. Three forms share one set of options: functions of a Python file, whole
// programs (bench_program), and a comparison of two saved results (bench_compare). This file has the command line and the first form.
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/bench/bench_compare.h"
#include "cli/bench/bench_output.h"
#include "cli/bench/bench_program.h"
#include "cli/bench/rules.h"
#include "cli/bench/store.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/output.h"
#include "cli/python_package.h"
#include "collect/device/device_source.h"
#include "collect/launch/target.h"
#include "core/base/result.h"
#include "measure/bench_document.h"
#include "measure/bench_options.h"

namespace gpuprof::inline cli {
namespace {

// Functions of a Python file. The package gpu_profile benchmarks them in a separate process
// (python/gpu_profile/bench_command).

struct FunctionsFound {
    measure::BenchDocument document;  // benchmarks only; empty if all failed
    ExitCode code = ExitCode::ok;     // of the process, which has already reported why
};

constexpr PassedOption kOptions[] = {
    {"--args", "VALUE...",
     "Arguments of each function: Python literals (3, 0.5, \"'text'\") or generated arrays (64x64:float32)."},
    {"--inputs", "FILE", "Python file whose inputs(seed) returns the arguments, as for evaluate."},
    {"--memory", "", "Measure the memory of one call as well."},
    {"--max-memory-mb", "N", "Peak memory allowed per call, in MB; exit with 1 above it.", PassedOption::number},
};

std::vector<PassedOption> all_options() {
    std::vector<PassedOption> all(std::begin(kOptions), std::end(kOptions));
    for (const OptionSpec& spec : measure::kFunctionOptions)
        if (!spec.flag.empty()) all.push_back(PassedOption::of(spec));
    return all;
}

// An anonymous file in memory: the benchmark process writes it, then this one reads it. A crash leaves nothing to
// remove.
class ResultFile {
public:
    ResultFile() : fd_(memfd_create("gpu-profile-bench", 0)) {}
    ~ResultFile() {
        if (fd_ >= 0) close(fd_);
    }
    ResultFile(const ResultFile&) = delete;
    ResultFile& operator=(const ResultFile&) = delete;
    int fd() const { return fd_; }
    std::string text() const {
        std::string all;
        char buffer[65536];
        for (off_t at = 0;;) {
            ssize_t got = pread(fd_, buffer, sizeof buffer, at);
            if (got <= 0) return all;
            all.append(buffer, static_cast<std::size_t>(got));
            at += got;
        }
    }

private:
    int fd_;
};

// FILE[:FUNCTION]
std::string_view file_of(std::string_view what) {
    std::size_t colon = what.rfind(':');
    bool named = colon != std::string_view::npos && what.find('/', colon) == std::string_view::npos;
    return what.substr(0, named ? colon : what.size());
}

Result<std::vector<std::string>> words_of(const std::string& what, int result_fd,
                                          const std::vector<std::string>& passed) {
    Result<std::vector<std::string>> python = python_words("bench", "bench_command");
    if (!python.ok()) return python;
    std::vector<std::string>& words = *python;
    std::string_view file = file_of(what);
    words.push_back(fmt::format("--file={}", file));
    if (file.size() < what.size()) words.push_back(fmt::format("--function={}", what.substr(file.size() + 1)));
    words.push_back(fmt::format("--result-fd={}", result_fd));
    words.insert(words.end(), passed.begin(), passed.end());
    return python;
}

// Options that apply to functions only.
std::span<const PassedOption> function_options() {
    static const std::vector<PassedOption> all = all_options();
    return all;
}

// The files that the process reads: the file of `what` and the file of the inputs.
std::vector<std::string> files_of_functions(const std::string& what, const std::vector<std::string>& passed) {
    constexpr std::string_view kInputs = "--inputs=";
    std::vector<std::string> files = {std::string(file_of(what))};
    for (const std::string& word : passed)
        if (word.starts_with(kInputs)) files.push_back(word.substr(kInputs.size()));
    return files;
}

// `what` is FILE.py or FILE.py:FUNCTION, `passed` the options for the package. Call before other threads exist.
Result<FunctionsFound> bench_functions(const std::string& what, const std::vector<std::string>& passed) {
    ResultFile file;
    if (file.fd() < 0)
        return Error{ExitCode::internal,
                     fmt::format("cannot create a file in memory for the result: {}", std::strerror(errno))};
    Target target;
    Result<std::vector<std::string>> words = words_of(what, file.fd(), passed);
    if (!words.ok()) return words.error();
    if (Status started = target.start(*words); !started) {
        const std::string& why = started.error().message;
        return no_python("bench", words->front(), why.substr(why.rfind(": ") + 2));
    }
    TargetExit end = target.wait();
    if (end.signal != 0)
        return Error{end.asked != 0 ? static_cast<ExitCode>(128 + end.asked) : ExitCode::unreadable,
                     fmt::format("{} was killed by signal {} ({}); its results are discarded", what, end.signal,
                                 strsignal(end.signal))};
    FunctionsFound found;
    found.code = static_cast<ExitCode>(end.exit_status);
    std::string text = file.text();
    if (text.empty()) {
        if (end.exit_status != 0) return found;
        return Error{ExitCode::unreadable, fmt::format("{} exited before anything was measured", what)};
    }
    Result<measure::BenchDocument> document = measure::read_bench_document(text, what);
    if (!document.ok()) return document.error();
    found.document = std::move(*document);
    return found;
}

enum Form : unsigned { kFunctions = 1, kProgram = 2, kCompare = 4 };

struct BenchArguments {
    std::vector<std::string> words;
    std::string format = "text", output = "-", save, nvbench_json;
    bool force = false;
    ProgramBench program;
    int runs = 1;           // of the process that benchmarks functions
    double min_effect = 1;  // %
    std::vector<std::string> fail_on;
    // --flag=VALUE: stopping rules, which both forms share, and options of functions.
    std::shared_ptr<std::vector<std::string>> rules = std::make_shared<std::vector<std::string>>(),
                                              passed = std::make_shared<std::vector<std::string>>();
};

Error wrong(std::string message) { return {ExitCode::usage, std::move(message)}; }

// The form that the words before and after `--` request.
Result<Form> form_of(const BenchArguments& arguments, bool dashes) {
    const std::vector<std::string>& words = arguments.words;
    if (words.empty())
        return wrong(
            "nothing to benchmark; expected FILE.py[:FUNCTION], -- CMD..., or compare A B (see gpu-profile bench "
            "--help)");
    if (dashes) return kProgram;
    if (words[0] == "compare") {
        if (words.size() == 3) return kCompare;
        return wrong("compare needs two results; usage: gpu-profile bench compare BASELINE CANDIDATE");
    }
    constexpr std::string_view kCompareWord[] = {"compare"};
    if (std::string hint = did_you_mean(words[0], kCompareWord); words.size() == 3 && !hint.empty())
        return wrong(fmt::format("unknown word '{}'{}", words[0], hint));
    if (words.size() > 1)
        return wrong(fmt::format(
            "unexpected argument '{}': bench takes one file; put arguments of its functions after --args, and a "
            "program after --",
            words[1]));
    return kFunctions;
}

// The forms that an option applies to. An option that is not listed applies to every form.
struct OptionScope {
    const char* flag;
    unsigned forms;
};
constexpr OptionScope kOptionScopes[] = {
    {"--save", kFunctions | kProgram},
    {"--force", kFunctions | kProgram},
    {"--nvbench-json", kFunctions | kProgram},
    {"--no-command-line", kFunctions | kProgram},
    {"--runs", kFunctions},
    {"--warmup-runs", kProgram},
    {"--show-output", kProgram},
    {"--ignore-failure", kProgram},
    {"--device", kProgram},
    {"--backend", kProgram},
    {"--fail-on", kCompare},
    {"--min-effect", kCompare},
};

const char* name_of(Form form) {
    if (form == kFunctions) return "functions";
    return form == kProgram ? "programs" : "compare";
}

Status check_options(const CommandLine& line, Form form) {
    auto check = [&](std::string_view flag, unsigned forms) -> Status {
        if ((forms & form) != 0 || !line.given(std::string(flag))) return {};
        return wrong(fmt::format("{} does not apply to {} (see gpu-profile bench --help)", flag, name_of(form)));
    };
    for (const PassedOption& each : stopping_options())
        if (Status fits = check(each.flag, kFunctions | kProgram); !fits) return fits;
    for (const OptionScope& each : kOptionScopes)
        if (Status fits = check(each.flag, each.forms); !fits) return fits;
    for (const PassedOption& each : function_options())
        if (Status fits = check(each.flag, kFunctions); !fits) return fits;
    return {};
}

Status check_values(const BenchArguments& arguments, Form form) {
    std::size_t formats = form == kCompare ? 3 : std::size(kBenchFormats);
    std::vector<std::string_view> known(std::begin(kBenchFormats), std::begin(kBenchFormats) + formats);
    if (std::find(known.begin(), known.end(), arguments.format) == known.end())
        return unknown_choice("format", arguments.format, known);
    return {};
}

// The options to pass on to the package.
std::vector<std::string> passed_of(const BenchArguments& arguments) {
    std::vector<std::string> passed = *arguments.passed;
    passed.insert(passed.end(), arguments.rules->begin(), arguments.rules->end());
    return passed;
}

Result<FunctionsFound> measured(const BenchArguments& arguments, Form form) {
    if (form == kFunctions) {
        Result<FunctionsFound> all = bench_functions(arguments.words[0], passed_of(arguments));
        for (int run = 1; run < arguments.runs && all.ok() && all->code == ExitCode::ok; ++run) {
            Result<FunctionsFound> more = bench_functions(arguments.words[0], passed_of(arguments));
            if (!more.ok()) return more;
            all->code = more->code;
            for (measure::Benchmark& each : more->document.benchmarks)
                all->document.benchmarks.push_back(std::move(each));
        }
        return all;
    }
    ProgramBench program = arguments.program;
    program.command = arguments.words;
    Result<measure::StoppingOptions> rules = program_rules(*arguments.rules);
    if (!rules.ok()) return rules.error();
    program.rules = *rules;
    if (Status known = check_backend(program.backend); !known) return known.error();
    Result<measure::Benchmark> found = bench_program(program);
    if (!found.ok()) return found.error();
    FunctionsFound all;
    all.document.benchmarks.push_back(std::move(*found));
    return all;
}

// The files that a bench writes and those that it reads. Every word of a program's command line may be a file.
Status check_files(const BenchArguments& arguments, Form form) {
    std::vector<std::string> outputs = {arguments.output, arguments.nvbench_json}, inputs = arguments.words;
    if (!arguments.save.empty()) outputs.push_back(bench_file_of(arguments.save));
    if (form == kFunctions) inputs = files_of_functions(inputs[0], *arguments.passed);
    if (form == kCompare) inputs = {bench_file_of(inputs[1]), bench_file_of(inputs[2])};
    return check_outputs(outputs, inputs);
}

Result<ExitCode> bench(const BenchArguments& arguments, Form form) {
    std::optional<BenchSaving> saving;
    if (!arguments.save.empty()) {
        Result<BenchSaving> opened = BenchSaving::open(arguments.save, arguments.force);
        if (!opened.ok()) return opened.error();
        saving.emplace(std::move(*opened));
    }
    Result<FunctionsFound> found = measured(arguments, form);
    if (!found.ok()) return found.error();
    measure::BenchDocument& document = found->document;
    if (document.benchmarks.empty()) return found->code;
    describe_run(document, !arguments.program.no_command_line);
    if (Status shown = write_bench(document, arguments.format, arguments.output); !shown) return shown.error();
    if (!arguments.nvbench_json.empty())
        if (Status written = write_bench(document, "nvbench", arguments.nvbench_json); !written) return written.error();
    if (saving && found->code != ExitCode::ok)
        note(fmt::format("result not saved to {}: some benchmarks failed", saving->file()));
    else if (saving)
        if (Status saved = saving->commit(document); !saved) return saved.error();
    return found->code;
}

Result<ExitCode> compare(const BenchArguments& arguments) {
    std::vector<FailCondition> conditions;
    for (const std::string& text : arguments.fail_on) {
        Result<FailCondition> condition = parse_fail_condition(text);
        if (!condition.ok()) return condition.error();
        if (condition->more_than > 0 && condition->more_than * 100 < arguments.min_effect)
            return wrong(fmt::format("--fail-on '{}' is below --min-effect ({} %), which ignores smaller changes", text,
                                     arguments.min_effect));
        conditions.push_back(*condition);
    }
    Result<measure::BenchDocument> baseline = read_bench_result(arguments.words[1]);
    if (!baseline.ok()) return baseline.error();
    Result<measure::BenchDocument> candidate = read_bench_result(arguments.words[2]);
    if (!candidate.ok()) return candidate.error();
    Result<BenchComparison> found = compare_results(*baseline, *candidate, arguments.min_effect / 100, conditions);
    if (!found.ok()) return found.error();
    std::string head = fmt::format("baseline {}, candidate {}", arguments.words[1], arguments.words[2]);
    if (Status shown = write_tables(head, {&found->table, 1}, arguments.format, arguments.output); !shown)
        return shown.error();
    for (const std::string& sentence : found->failed) note(sentence);
    return found->failed.empty() ? ExitCode::ok : ExitCode::threshold;
}

Result<ExitCode> run_bench(const BenchArguments& arguments, const CommandLine& line) {
    std::vector<std::string> extras = line.remaining();
    bool dashes = std::find(extras.begin(), extras.end(), "--") != extras.end();
    Result<Form> form = form_of(arguments, dashes);
    if (!form.ok()) return form.error();
    if (Status fits = check_options(line, *form); !fits) return fits.error();
    if (Status sound = check_values(arguments, *form); !sound) return sound.error();
    if (Status free = check_files(arguments, *form); !free) return free.error();
    return *form == kCompare ? compare(arguments) : bench(arguments, *form);
}

void declare_program(CommandLine& line, ProgramBench& to) {
    line.option("--warmup-runs", to.warmup_runs, "Warm-up runs before measuring a program (default: 1).")
        .integer_range(0, 100'000)
        .value("N");
    line.flag("--show-output", to.show_output, "Show the output of a program, on standard error.");
    line.flag("--ignore-failure", to.ignore_failure, "Count runs of a program that exit with a status other than 0.");
    line.option("--device", to.devices, "Devices to sample while a program runs, as for profile.").value("N|all");
    line.option("--backend", to.backend, "Source of device samples, as for profile; none samples no device.")
        .value("NAME");
}

std::function<Result<ExitCode>()> declare_bench(CommandLine& line) {
    auto arguments = std::make_shared<BenchArguments>();
    line.option("WHAT", arguments->words,
                "Functions (FILE.py[:FUNCTION]), a program (-- CMD...), or two results (compare BASELINE CANDIDATE).")
        .value("");
    declare_passed(line, function_options(), arguments->passed);
    declare_passed(line, stopping_options(), arguments->rules);
    line.option(
            "--runs", arguments->runs,
            "Runs of the process that benchmarks functions, so that compare knows what runs differ by (default: 1).")
        .integer_range(1, 1000)
        .value("N");
    declare_program(line, arguments->program);
    line.option("--format", arguments->format, "Output format: text, csv, json or nvbench (default: text).")
        .suggest(kBenchFormats)
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    line.option("--nvbench-json", arguments->nvbench_json, "Write the result to this file as nvbench JSON as well.")
        .value("FILE");
    line.option("--save", arguments->save, "Save the result under this name, or to this path if it contains a slash.")
        .value("NAME");
    line.flag("--no-command-line", arguments->program.no_command_line,
              "Omit the command line from the result; by default it is kept, with recognised secrets removed.");
    line.flag("--force", arguments->force, "Overwrite an existing result of the same name.");
    line.option("--fail-on", arguments->fail_on,
                "compare: exit with 1 on this verdict: slower, slower>5% or cannot-tell; may be repeated.")
        .value("WHEN")
        .append_each_use();
    line.option("--min-effect", arguments->min_effect, "compare: smallest change that counts, in percent (default: 1).")
        .range(0.01, 1000.0)
        .value("PCT");
    return [arguments, &line] { return run_bench(*arguments, line); };
}

}  // namespace

extern const Command kBenchCommand;
const Command kBenchCommand{"bench",
                            "Benchmark",
                            "FILE.py[:FUNCTION] | -- CMD... | compare A B",
                            "Benchmark functions or a program; compare two results.",
                            declare_bench,
                            "WHAT",
                            "--args"};

}  // namespace gpuprof::cli
