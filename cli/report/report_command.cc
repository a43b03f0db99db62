// `report`: reads a recording and shows analyses of it. Checks run in the order in which their errors matter to users:
// first the command line, then the file, then the output.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/steps/phases.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/facts/validity.h"
#include "analyze/replay/prediction.h"
#include "analyze/tables/option_checks.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/ranks/job_of_files.h"
#include "cli/report/report_command.h"
#include "cli/report/report_watch.h"
#include "cli/report_output.h"
#include "cli/terminal.h"
#include "core/base/ids.h"
#include "core/base/parallel.h"
#include "core/base/text/close_match.h"
#include "core/base/text/readable.h"
#include "core/model/select_interval.h"
#include "io/importers/open_trace.h"
#include "present/answer/analyses.h"
#include "present/answer/job_verdict.h"
#include "present/answer/kernel_answer.h"
#include "present/answer/make_answer.h"
#include "present/answer/trust.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

constexpr double kMaxTime = 1e9;                                                   // seconds
constexpr std::array<std::string_view, 2> kConditions{"validity", "cannot-tell"};  // of --fail-on

struct ReportArguments {
    std::string file;
    std::vector<std::string> words;  // further recordings, and analyses
    std::vector<std::string> files, analyses;
    std::string format = "text";
    std::string output = "-";
    double from = 0, to = 0;  // seconds since the beginning; to 0: the end
    bool watch = false;
    bool verbose = false;
    bool whole = false;
    std::vector<std::string> fail_on;
    Options options;
    ReadLimits limits;
};

// The requested format and analyses, all of them valid.
struct Plan {
    const ReportFormat* format = nullptr;
    std::vector<const Analysis*> analyses;
    bool first_answer = false;
    bool all_findings = false;
    bool verbose = false;
    bool about_kernel = false;  // the answer is about the selected kernel
};

Error unknown_analysis(const std::string& name) {
    std::size_t dash = name.rfind('-');
    if (dash != name.npos && name.find_first_not_of("0123456789", dash + 1) == name.npos)
        return Error{ExitCode::usage,
                     fmt::format("'{0}' is a row of a table, not an analysis; {1}", name,
                                 name.starts_with("k-") ? fmt::format("kernel {} shows its counters", name)
                                                        : "gpu-profile report --help lists the tables")};
    std::vector<std::string_view> names = names_of(analyses());
    if (!close_matches(name, names).empty()) return unknown_choice("analysis", name, names);
    return Error{ExitCode::usage, fmt::format("unknown analysis '{}'; gpu-profile report --help lists them", name)};
}

Result<Plan> plan_of(const ReportArguments& arguments) {
    Plan plan;
    plan.format = find_report_format(arguments.format);
    if (plan.format == nullptr) return unknown_choice("format", arguments.format, names_of(report_formats()));
    for (const std::string& name : arguments.analyses) {
        const Analysis* analysis = find_analysis(name);
        if (analysis == nullptr) return unknown_analysis(name);
        plan.analyses.push_back(analysis);
        plan.first_answer |= analysis->name == "summary";
        plan.all_findings |= analysis->name == "findings";
        plan.about_kernel |= analysis->name == "kernel";
    }
    plan.first_answer |= plan.analyses.empty();
    plan.verbose = arguments.verbose;
    if (plan.verbose && !plan.first_answer)
        return Error{ExitCode::usage, "--verbose shows more of the first answer; leave it out when you name analyses"};
    if (plan.format->one_table && plan.analyses.size() != 1)
        return Error{
            ExitCode::usage,
            fmt::format(
                "{0} output holds one table; name one analysis, as in gpu-profile report FILE kernels --format {0}",
                plan.format->name)};
    return plan;
}

// Everything a report needs in addition to the trace, alive until it is written.
struct ReportContent {
    std::optional<Answer> answer;
    Trust trust;
    std::vector<ResultTable> tables;
};

// Refers to `found` and `trace`.
Report report_of(const Plan& plan, const Trace& trace, const ReportContent& found) {
    return {.version = program_version(),
            .origin = trace.origin(),
            .window = trace.window(),
            .zero = trace.zero(),
            .whole = trace.is_part() ? trace.full_window().length() : 0,
            .trust = found.trust,
            .answer = found.answer ? &*found.answer : nullptr,
            .first_answer = plan.first_answer || (plan.about_kernel && !plan.all_findings),
            .verbose = plan.verbose,
            .all_findings = plan.all_findings,
            .tables = found.tables};
}

// The given --from and --to, as text.
std::string requested_part(const ReportArguments& arguments) {
    std::string asked = arguments.from > 0 ? "--from " + readable_duration(arguments.from * kNsPerSecond) : "";
    if (arguments.to > 0)
        asked += (asked.empty() ? "--to " : " --to ") + readable_duration(arguments.to * kNsPerSecond);
    return asked;
}

// A trace and its facts. If the first answer covers the whole trace, the facts computed to find its part are reused.
struct TraceWithFacts {
    std::unique_ptr<Trace> trace;
    std::unique_ptr<const Facts> facts;
    std::map<const Analysis*, ResultTable> of_whole = {};  // of a part: what is about the whole recording
};

TraceWithFacts with_facts(Trace trace, const Options& options) {
    TraceWithFacts selected{std::make_unique<Trace>(std::move(trace)), nullptr};
    selected.facts = std::make_unique<const Facts>(*selected.trace, options);
    return selected;
}

Result<ReportContent> analyse(const Plan& plan, TraceWithFacts& selected) {
    const Facts& facts = *selected.facts;
    ReportContent found;
    if (plan.first_answer || plan.all_findings || plan.about_kernel) {
        bool whole = plan.first_answer || plan.all_findings;
        Result<Answer> answer = whole ? make_answer(facts) : answer_about_kernel(facts);
        if (!answer.ok()) return answer.error();
        found.trust = answer->trust;
        found.answer = std::move(answer).value();
    } else {
        bool about_idle = std::any_of(plan.analyses.begin(), plan.analyses.end(),
                                      [](const Analysis* each) { return each->traits.about_idle; });
        found.trust = trust_of(facts, about_idle);
    }
    if (!found.answer && plan.analyses.size() == 1 && plan.analyses.front()->traits.replays) {
        selected.facts = facts_for_replays(facts);
        make_graph(*selected.facts, *selected.trace);
    }
    for (const Analysis* analysis : plan.analyses) {
        auto known = selected.of_whole.find(analysis);
        Result<ResultTable> table =
            known == selected.of_whole.end() ? analysis->run(*selected.facts) : std::move(known->second);
        if (!table.ok()) return table.error();
        found.tables.push_back(std::move(table).value());
    }
    return found;
}

// The requested part. Without one, answers cover the repeating part, unless --whole is given.
Result<TraceWithFacts> selected_part(Trace trace, const Plan& plan, const ReportArguments& arguments) {
    if (arguments.from > 0 || arguments.to > 0) {
        TimeNs zero = trace.zero(), end = trace.window().end;
        Interval part{zero + std::llround(arguments.from * kNsPerSecond),
                      arguments.to > 0 ? std::min<TimeNs>(end, zero + std::llround(arguments.to * kNsPerSecond)) : end};
        if (part.start >= part.end)
            return Error{ExitCode::usage,
                         fmt::format("{} selects no part of the recording, which is {} long", requested_part(arguments),
                                     readable_duration(trace.window().length()))};
        return with_facts(select_interval(std::move(trace), part), arguments.options);
    }
    TraceWithFacts whole = with_facts(std::move(trace), arguments.options);
    bool about_whole =
        !plan.analyses.empty() && std::all_of(plan.analyses.begin(), plan.analyses.end(),
                                              [](const Analysis* each) { return each->traits.of_whole; });
    if (arguments.whole || about_whole) return whole;
    // The answer needs the activity of devices, whatever part it covers.
    std::optional<Interval> part;
    run_together(whole.trace->kernel().rows, {[&] { part = interval_for_first_answer(*whole.facts); },
                                              [&] { (void)whole.facts->get<Activity>(); }});
    if (!part) return whole;
    TraceWithFacts selected;
    for (const Analysis* analysis : plan.analyses) {
        if (!analysis->traits.of_whole) continue;
        Result<ResultTable> table = analysis->run(*whole.facts);
        if (!table.ok()) return table.error();
        selected.of_whole.emplace(analysis, std::move(table).value());
    }
    Phases phases = whole.facts->get<Phases>();
    whole.facts.reset();
    selected.trace = std::make_unique<Trace>(select_interval(std::move(*whole.trace), *part));
    auto facts = std::make_unique<Facts>(*selected.trace, arguments.options);
    facts->put(std::move(phases));
    selected.facts = std::move(facts);
    return selected;
}

// A word that names an analysis is one; a word after an analysis of one kernel selects it; any other word that is an existing path
// is a recording.
ReportArguments sorted_words(ReportArguments arguments) {
    arguments.files = {arguments.file};
    for (const std::string& word : arguments.words) {
        bool is_analysis = find_analysis(word) != nullptr;
        if (!is_analysis && !arguments.analyses.empty() && find_analysis(arguments.analyses.back()) != nullptr &&
            find_analysis(arguments.analyses.back())->reads(AnalysisOption::kernel) && arguments.options.kernel.empty())
            arguments.options.kernel = word;
        else
            (!is_analysis && is_path(word) ? arguments.files : arguments.analyses).push_back(word);
    }
    return arguments;
}

// --fail-on validity: what a recording says that cannot be is listed, and the exit status says so.
ExitCode judge_validity(const Facts& facts) {
    const Validity& validity = facts.get<Validity>();
    for (const RecordingCheck& check : validity.checks)
        if (check.result == CheckResult::violated)
            note(fmt::format("--fail-on validity: {}: violated by {} of {} ({})", check.name,
                             readable_count(static_cast<std::int64_t>(check.found)),
                             readable_count(static_cast<std::int64_t>(check.checked)), check.example));
    return validity.violated() ? ExitCode::threshold : ExitCode::ok;
}

// --fail-on cannot-tell: the first answer has no verdict.
Result<ExitCode> judge_verdict(const Facts& facts, const std::optional<Answer>& known) {
    std::optional<Answer> made;
    if (!known) {
        Result<Answer> answer = make_answer(facts);
        if (!answer.ok()) return answer.error();
        made = std::move(answer).value();
    }
    const Verdict& verdict = (known ? *known : *made).verdict;
    if (verdict.limit != Limit::unknown) return ExitCode::ok;
    note(fmt::format("--fail-on cannot-tell: {}", verdict.because));
    return ExitCode::threshold;
}

// Whatever --fail-on asks for.
Result<ExitCode> judge_all(const std::vector<std::string>& conditions, const Facts& facts,
                           const std::optional<Answer>& known) {
    ExitCode judged = ExitCode::ok;
    for (const std::string& condition : conditions) {
        Result<ExitCode> one =
            condition == kConditions.front() ? Result<ExitCode>(judge_validity(facts)) : judge_verdict(facts, known);
        if (!one.ok()) return one;
        if (*one != ExitCode::ok) judged = *one;
    }
    return judged;
}

// The ranks of a recording that adds several up, compared with each other: their verdict in a sentence; "" if they cannot be.
std::string compared_ranks(const Plan& plan, const ReportArguments& arguments, const Trace& trace) {
    const std::size_t ranks = ranks_added_up(trace);
    if (!plan.first_answer || ranks < 2 || trace.tables().rank.rows > 0) return "";
    JobRequest request;
    request.quiet = true;
    std::optional<Trace> job;
    Result<ExitCode> ended = read_job(arguments.files, request, {}, arguments.limits, job);
    if (!ended.ok() || !job) return "";
    const Options usual;
    Facts facts(*job, usual);
    Verdict verdict = job_verdict(facts);
    std::string_view said = verdict.because;  // "A share is lost: who costs what"
    if (std::size_t who = said.find(": "); verdict.name == "stragglers" && who != std::string_view::npos)
        said.remove_prefix(who + 2);
    return fmt::format("{} ranks are added up here; compared with each other: {}", ranks, said);
}

Result<ExitCode> show_trace(const Plan& plan, const ReportArguments& arguments, Trace whole,
                            const std::function<void(const Facts&)>& judge = {}) {
    std::string ranks = compared_ranks(plan, arguments, whole);
    Result<TraceWithFacts> selected = selected_part(std::move(whole), plan, arguments);
    if (!selected.ok()) return selected.error();
    Result<ReportContent> found = analyse(plan, *selected);
    if (!found.ok()) return found.error();
    if (!ranks.empty()) {
        found->trust.statements.insert(found->trust.statements.begin(), {.warning = true, .text = ranks});
        if (found->answer)
            found->answer->next_steps.insert(found->answer->next_steps.begin(),
                                             fmt::format("gpu-profile ranks {}", selected->trace->origin().file));
    }
    Report report = report_of(plan, *selected->trace, *found);
    if (Status written = write_report(*plan.format, report, arguments.output, arguments.options.limit,
                                      arguments.watch ? Paging::off : Paging::on);
        !written)
        return written.error();
    if (judge) judge(*selected->facts);
    return judge_all(arguments.fail_on, *selected->facts, found->answer);
}

Result<ExitCode> show(const Plan& plan, const ReportArguments& arguments) {
    Progress progress;
    Result<Trace> whole = open_trace(arguments.files, arguments.limits);
    if (!whole.ok()) return whole.error();
    if (Status known = check_names(*whole, arguments.options); !known) return known.error();
    return show_trace(plan, arguments, std::move(whole).value());
}

// Errors are shown and the watch goes on: a recording may be incomplete while it is being written.
Result<ExitCode> keep_showing(const Plan& plan, const ReportArguments& arguments) {
    bool screen = arguments.output == "-" && isatty(STDOUT_FILENO) == 1;
    show_on_change(arguments.files, [&] {
        if (screen && !print("\033[H\033[2J\033[3J")) return false;  // cursor home, clear the screen and its history
        if (Result<ExitCode> shown = show(plan, arguments); !shown.ok()) note(shown.error().message);
        return true;
    });
    return ExitCode::ok;
}

Result<ExitCode> run_report(const ReportArguments& given) {
    ReportArguments arguments = sorted_words(given);
    Result<Plan> plan = plan_of(arguments);
    if (!plan.ok()) return plan.error();
    for (const std::string& condition : arguments.fail_on)
        if (std::find(kConditions.begin(), kConditions.end(), condition) == kConditions.end())
            return unknown_choice("--fail-on condition", condition, {kConditions.begin(), kConditions.end()});
    std::vector<const Analysis*> shown = plan->analyses;
    if (shown.empty()) shown = {&kSummary};
    if (Status heard = check_options(arguments.options, shown, analyses()); !heard) return heard.error();
    if (Status free = check_output(arguments.output, arguments.files); !free) return free.error();
    if (!arguments.watch) return show(*plan, arguments);
    if (std::find(arguments.files.begin(), arguments.files.end(), "-") != arguments.files.end())
        return Error{ExitCode::usage, "--watch needs files; standard input cannot change"};
    return keep_showing(*plan, arguments);
}

ReportArguments arguments_of(const AnalysisRequest& request) {
    ReportArguments arguments;
    arguments.file = request.file;
    arguments.format = request.format;
    arguments.output = request.output;
    arguments.verbose = request.verbose;
    arguments.options = request.options;
    arguments.limits = request.limits;
    return arguments;
}

std::function<Result<ExitCode>()> declare_report(CommandLine& line) {
    auto arguments = std::make_shared<ReportArguments>();
    line.option("FILE", arguments->file, kRecordingDoc).required().value("");
    line.option("ANALYSIS", arguments->words,
                "Analyses to show, of the list below (default: the first answer). Other arguments that name existing "
                "files are further recordings of the job.")
        .suggest(names_of(analyses()))
        .value("");
    line.option("--format", arguments->format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    line.option("--from", arguments->from,
                "Start of the part to analyse, in seconds from the beginning or with a unit, as in 464ms (default: 0).")
        .seconds(0, kMaxTime)
        .value("S");
    line.option("--to", arguments->to, "End of the part to analyse, likewise (default: 0, the end).")
        .seconds(0, kMaxTime)
        .value("S");
    line.flag("--whole", arguments->whole,
              "Analyse the whole recording with start-up, not only the part with most work.");
    line.option("--fail-on", arguments->fail_on,
                "Exit with 1 if the recording contradicts itself ('validity', the analysis that lists how), or if the "
                "first answer is 'cannot-tell'; may be repeated.")
        .one_value_per_use()
        .suggest(kConditions)
        .value("WHEN");
    line.flag("--verbose", arguments->verbose,
              "Show all of the first answer: every warning, cause, kernel and finding, and the plan.");
    line.flag("--watch", arguments->watch, "Show the answer again whenever a recording changes, until Ctrl-C.");
    declare_options(line, arguments->options);
    declare_read_limits(line, arguments->limits);
    std::string listed = "Analyses";
    for (const ListedAnalysis& each : listed_analyses())
        listed += each.analysis == nullptr ? fmt::format("\n\n{}: {}", each.heading, each.doc)
                                           : fmt::format("\n{}\t{}", each.analysis->name, each.analysis->doc);
    line.footer(listed);
    return [arguments] { return run_report(*arguments); };
}

}  // namespace

Result<std::string> first_answer_text(Trace whole) {
    Plan plan{.format = find_report_format("text"), .analyses = {}, .first_answer = true};
    Result<TraceWithFacts> selected = selected_part(std::move(whole), plan, ReportArguments{});
    if (!selected.ok()) return selected.error();
    Result<ReportContent> found = analyse(plan, *selected);
    if (!found.ok()) return found.error();
    Report report = report_of(plan, *selected->trace, *found);
    StringSink sink;
    plan.format->write(report, style_for("-"), sink);
    return sink.text();
}

Result<ExitCode> report_analyses(const AnalysisRequest& request) {
    ReportArguments arguments = arguments_of(request);
    arguments.words = request.analyses;
    return run_report(arguments);
}

Result<ExitCode> report_trace(Trace trace, const AnalysisRequest& request,
                              const std::function<void(const Facts&)>& judge) {
    ReportArguments arguments = arguments_of(request);
    arguments.analyses = request.analyses;
    Result<Plan> plan = plan_of(arguments);
    if (!plan.ok()) return plan.error();
    return show_trace(*plan, arguments, std::move(trace), judge);
}

extern const Command kReportCommand;
const Command kReportCommand{"report", "Analyse recordings", "FILE... [ANALYSIS...]",
                             "Show where the time went: the first answer, or the named analyses.", declare_report};

}  // namespace gpuprof::cli
