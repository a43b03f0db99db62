#include "cli/schema/reference.h"

#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"
#include "analyze/rules/rule_list.h"
#include "cli/serve/prometheus.h"
#include "collect/counters/counter_catalogue.h"
#include "collect/counters/source_set.h"
#include "compare/change.h"
#include "compare/comparability.h"
#include "core/schema/losses.h"
#include "core/schema/metrics.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"
#include "core/schema/recorder_settings.h"
#include "core/schema/schema.h"
#include "core/schema/summary_fields.def"
#include "io/importers/importer.h"
#include "present/answer/analyses.h"
#include "present/query/sql_checks.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

constexpr ResultColumn kName{"name", CellType::text, Unit::none, "Name."};
constexpr ResultColumn kType{"type", CellType::text, Unit::none, "Type of the values."};
constexpr ResultColumn kUnit{"unit", CellType::text, Unit::none, "Unit of the values; absent if they have none."};
constexpr ResultColumn kDoc{"doc", CellType::text, Unit::none, "Description."};
constexpr ResultColumn kTableColumn{"table", CellType::text, Unit::none, "Table that the column belongs to."};
constexpr ResultColumn kAnalysisColumn{"analysis", CellType::text, Unit::none, "Analysis that the column belongs to."};

constexpr ResultColumn kNamed[] = {kName, kDoc};
constexpr ResultColumn kColumns[] = {kName, kType, kUnit, kDoc};
constexpr ResultColumn kTableColumns[] = {kTableColumn, kName, kType, kUnit, kDoc};
constexpr ResultColumn kAnalysisColumns[] = {kAnalysisColumn, kName, kType, kUnit, kDoc};
constexpr ResultColumn kAnalyses[] = {kName, {"aliases", CellType::text, Unit::none, "Other accepted names."}, kDoc};
constexpr ResultColumn kOptionColumns[] = {{"option", CellType::text, Unit::none, "Option on the command line."},
                                           {"default", CellType::text, Unit::none, "Default value."},
                                           kDoc};
constexpr ResultColumn kSettingColumns[] = {{"option", CellType::text, Unit::none, "Option of record."},
                                            {"key", CellType::text, Unit::none, "Key in the table meta."},
                                            kDoc};
constexpr ResultColumn kLossColumns[] = {
    kName,
    {"severity", CellType::text, Unit::none,
     "data: something is missing; value: a value was repaired or left absent; notice: good to know."},
    kDoc,
    {"remedy", CellType::text, Unit::none, "What to do."}};
constexpr ResultColumn kExitColumns[] = {{"code", CellType::integer, Unit::none, "Exit status."}, kName, kDoc};

constexpr ResultColumn kMetricColumns[] = {
    kName,
    {"field", CellType::text, Unit::none, "Name in CSV, JSON and Python."},
    kUnit,
    {"read", CellType::text, Unit::none,
     "fast: every tick; gpm: every tick, at most ten a second; slow: about once a second; rare: every ten seconds."},
    {"prometheus", CellType::text, Unit::none, "Name in the output of gpu-profile serve."},
    kDoc};

constexpr ResultColumn kKernelMetricColumns[] = {
    {"section", CellType::text, Unit::none, "What the metric is about."},
    kName,
    kUnit,
    {"vendor_name", CellType::text, Unit::none, "Name in CUPTI and on Nsight Compute's raw page."},
    kDoc};
constexpr ResultColumn kPartColumns[] = {
    {"of", CellType::text, Unit::none, "compute, or the level of memory."},
    kName,
    {"vendor_name", CellType::text, Unit::none, "Name in CUPTI and on Nsight Compute's raw page."}};
constexpr ResultColumn kStallColumns[] = {kName,
                                          {"waits_for", CellType::text, Unit::none, "What warps wait for."},
                                          {"remedy", CellType::text, Unit::none, "What to do."}};
constexpr ResultColumn kRuleColumns[] = {
    kName, kDoc, {"needs", CellType::text, Unit::none, "Counters without which it abstains."}};
constexpr ResultColumn kEffortColumns[] = {
    kName,
    kDoc,
    {"effort", CellType::text, Unit::none, "What its remedy asks of the program, where no prediction says more."}};

constexpr ResultColumn kCounterColumns[] = {
    {"set", CellType::text, Unit::none, "Set of gpu-profile counters that adds the metric."},
    {"vendor_name", CellType::text, Unit::none, "Name in CUPTI."},
    {"absent_on", CellType::text, Unit::none, "Chips without the metric, separated by spaces."}};
constexpr ResultColumn kSqlCheckColumns[] = {
    {"analysis", CellType::text, Unit::none, "Analysis that is checked."},
    {"sql", CellType::text, Unit::none,
     "SQL over the tables of the recording that computes the same; absent if SQL cannot."},
    {"against", CellType::text, Unit::none,
     "The same figures from the analysis; absent: its columns of the same names."},
    {"why", CellType::text, Unit::none, "What SQL cannot compute."}};
constexpr ResultColumn kValueColumns[] = {
    {"object", CellType::text, Unit::none, "Object in JSON documents, as the JSON Schema names it."},
    {"member", CellType::text, Unit::none, "Member of the object."},
    {"value", CellType::text, Unit::none, "A value that the member can have."}};

constexpr ResultColumn kPmCounterColumns[] = {kName, kUnit, kDoc};

// The text, or absent if it is empty.
Cell text_or_absent(std::string_view text) { return text.empty() ? kAbsent : Cell(text); }

template <class Columns>
void add_columns(ResultTable& table, std::string_view owner, const Columns& columns) {
    for (const auto& column : columns) {
        if (owner.empty())
            table.add_row({column.name, name_of(column.type), text_or_absent(name_of(column.unit)), column.doc});
        else
            table.add_row({owner, column.name, name_of(column.type), text_or_absent(name_of(column.unit)), column.doc});
    }
}

// The columns of a trace's table or of an analysis.
template <class Columns>
ResultTable columns_table(const Columns& columns) {
    ResultTable table("columns", kColumns);
    add_columns(table, "", columns);
    return table;
}

ResultTable analyses_table() {
    ResultTable table("analyses", kAnalyses);
    for (const Analysis* analysis : analyses())
        table.add_row({analysis->name, text_or_absent(analysis->aliases), analysis->doc});
    return table;
}

std::string shown(std::int64_t value) { return std::to_string(value); }
std::string shown(double value) { return fmt::format("{}", value); }
std::string shown(const std::string& value) { return value; }

ResultTable options_table() {
    ResultTable table("options", kOptionColumns);
    Options defaults;
    auto add = [&table](std::string name, std::string_view value, const std::string& initial, std::string_view doc) {
        for (char& c : name) c = c == '_' ? '-' : c;
        table.add_row({std::string_view(fmt::format("--{} {}", name, value)), text_or_absent(initial), doc});
    };
#define GPUPROF_OPTION_ROW(name, type, initial, value, doc) add(#name, value, shown(defaults.name), doc);
    GPUPROF_OPTIONS(GPUPROF_OPTION_ROW)
#undef GPUPROF_OPTION_ROW
    ReadLimits limits;
#define GPUPROF_LIMIT_ROW(name, initial, value, doc) add(#name, value, shown(limits.name), doc);
    GPUPROF_READ_LIMITS(GPUPROF_LIMIT_ROW)
#undef GPUPROF_LIMIT_ROW
    return table;
}

ResultTable record_settings_table() {
    ResultTable table("record_settings", kSettingColumns);
    RecorderSettings settings;
    each_setting(settings, [&table](const SettingSpec& setting, auto) {
        const SettingOption& option = setting.option;
        if (option.kind == SettingOption::none) return;
        std::string name = fmt::format("{}{}{}", option.flag, option.value.empty() ? "" : " ", option.value);
        table.add_row({std::string_view(name), std::string_view(meta_name(setting)), option.doc});
    });
    return table;
}

ResultTable losses_table() {
    ResultTable table("losses", kLossColumns);
    for (const LossSpec& loss : kLosses) table.add_row({loss.name, name_of(loss.severity), loss.doc, loss.remedy});
    return table;
}

ResultTable exit_codes_table() {
    ResultTable table("exit_codes", kExitColumns);
    for (const ExitCodeSpec& spec : kExitCodes)
        table.add_row({static_cast<std::int64_t>(spec.code), spec.name, spec.doc});
    return table;
}

std::string_view name_of(Cadence cadence) {
    constexpr std::string_view kNames[] = {"fast", "slow", "gpm", "rare"};
    return kNames[static_cast<std::size_t>(cadence)];
}

ResultTable metrics_table() {
    ResultTable table("metrics", kMetricColumns);
    for (const MetricSpec& spec : kMetrics) {
        std::string prometheus = exported(spec).name;
        table.add_row({spec.name, spec.field, text_or_absent(name_of(spec.unit)), name_of(spec.cadence),
                       std::string_view(prometheus), spec.doc});
    }
    return table;
}

ResultTable pm_counters_table() {
    ResultTable table("pm_counters", kPmCounterColumns);
    for (const PmCounterSpec& spec : kPmCounters) table.add_row({spec.name, name_of(spec.unit), spec.doc});
    return table;
}

ResultTable kernel_metrics_table() {
    ResultTable table("kernel_metrics", kKernelMetricColumns);
    for (const KernelMetricSpec& spec : kernel_metrics())
        table.add_row({name_of(spec.section), spec.label, text_or_absent(spec.unit), spec.names[0], spec.doc});
    return table;
}

ResultTable throughput_parts_table() {
    ResultTable table("throughput_parts", kPartColumns);
    for (const ThroughputPart& part : compute_parts())
        table.add_row({std::string_view("compute"), part.name, part.vendor_name});
    for (const ThroughputPart& part : memory_parts())
        table.add_row({name_of(*part.level), part.name, part.vendor_name});
    return table;
}

ResultTable stall_reasons_table() {
    ResultTable table("stall_reasons", kStallColumns);
    for (const StallReason& reason : stall_reasons())
        table.add_row({reason.name, reason.waits_for, text_or_absent(reason.remedy)});
    return table;
}

ResultTable kernel_rules_table() {
    ResultTable table("kernel_rules", kRuleColumns);
    for (const KernelRule* rule : kKernelRules) table.add_row({rule->id, rule->doc, rule->needs});
    return table;
}

// The JSON types for the types in summary_fields.def.
constexpr std::string_view json_type(std::string_view type) {
    if (type == "text") return "text";
    if (type == "count") return "integer";
    return type == "list" ? "list of texts" : "number or null";
}

ResultTable summary_fields_table() {
    ResultTable table("summary_fields", kColumns);
#define GPUPROF_SUMMARY_ROW(type, name, unit, doc) \
    table.add_row(                                 \
        {std::string_view(#name), json_type(#type), text_or_absent(name_of(Unit::unit)), std::string_view(doc)});
    GPUPROF_SUMMARY_FIELDS(GPUPROF_SUMMARY_ROW)
#undef GPUPROF_SUMMARY_ROW
    return table;
}

ResultTable rules_table() {
    ResultTable table("rules", kEffortColumns);
    for (const Rule* rule : kAllRules) table.add_row({rule->id, rule->doc, name_of(rule->effort)});
    return table;
}

ResultTable counter_sets_table() {
    ResultTable table("counter_sets", kCounterColumns);
    for (const counters::SetMetric& metric : counters::set_metrics())
        table.add_row({metric.set, metric.name, text_or_absent(metric.chips_without)});
    for (const counters::SourceMetric& metric : counters::kSourceMetrics)
        table.add_row({counters::kSourceSet, metric.name, kAbsent});
    return table;
}

ResultTable sql_checks_table() {
    ResultTable table("sql_checks", kSqlCheckColumns);
    for (const SqlCheck& check : sql_checks())
        table.add_row({check.analysis, text_or_absent(check.sql), text_or_absent(check.of), text_or_absent(check.why)});
    return table;
}

// The names of the values of an enumeration, in its order; the first value without a name ends it.
template <class Enum, class Name>
void add_values(ResultTable& table, std::string_view object, std::string_view member, Name name, Enum first = {}) {
    for (int value = static_cast<int>(first); !name(static_cast<Enum>(value)).empty(); ++value)
        table.add_row({object, member, name(static_cast<Enum>(value))});
}

ResultTable json_values_table() {
    ResultTable table("json_values", kValueColumns);
    auto name = [](auto value) { return name_of(value); };
    add_values<Limit>(table, "verdict", "name", name);
    add_values<compare::Word>(table, "verdict", "name", compare::name_of_speed);
    for (std::string_view other : kOtherVerdicts) table.add_row({"verdict", "name", other});
    add_values<Basis>(table, "finding", "basis", name);
    add_values<Rating>(table, "finding", "severity", name);
    add_values<Unit>(table, "column", "unit", name, Unit::ns);
    add_values<CellType>(table, "column", "type", name);
    return table;
}

template <class List>
ResultTable named_table(std::string_view name, const List& list) {
    ResultTable table(name, kNamed);
    for (const auto& item : list) table.add_row({item.name, item.doc});
    return table;
}

}  // namespace

std::vector<Section> reference_sections() {
    std::vector<Section> out;
    auto chapter = [&out](std::string title, std::string doc, std::optional<ResultTable> table = {}) {
        out.push_back({1, std::move(title), std::move(doc), std::move(table)});
    };
    chapter("Analyses", "What `gpu-profile report FILE ANALYSIS...` shows. Aliases are accepted as well.",
            analyses_table());
    for (const Analysis* analysis : analyses())
        out.push_back({2, std::string(analysis->name), std::string(analysis->doc), columns_table(analysis->columns)});
    chapter("Options of analyses", "", options_table());
    chapter("Settings of a recording",
            "Options of `gpu-profile record` for the library inside the recorded processes. Those that were given are "
            "in the table `meta`, times in nanoseconds.",
            record_settings_table());
    chapter("Report formats", "", named_table("formats", report_formats()));
    chapter("Files that can be read", "The format is detected from the content; gzip and zstd are decompressed.",
            named_table("importers", all_importers()));
    chapter("Tables of a trace",
            "The tables that a recording is read into. Times are in nanoseconds; any value may be absent.");
    for (const TableSpec& table : table_specs())
        out.push_back({2, std::string(table.name), std::string(table.doc), columns_table(table.columns)});
    chapter("Metrics of sampling", "Metrics sampled from devices. Metrics that a device does not report are absent.",
            metrics_table());
    chapter("Hardware counters over time",
            "The counters that `gpu-profile record --sample pm` samples; they are also metrics of the table `sample`.",
            pm_counters_table());
    chapter("Counters of kernels",
            "What `report FILE metrics` shows: the counters that rules read, in base units, by any tool's name.",
            kernel_metrics_table());
    chapter(
        "Parts of throughputs",
        "Compute and memory throughput are each the maximum of these shares of a peak; the part that reaches it names "
        "the limit.",
        throughput_parts_table());
    chapter("Stall reasons", "What the warps of a kernel wait for, as `report FILE stalls` names it.",
            stall_reasons_table());
    chapter("Rules about kernels", "The findings of `report FILE advice`.", kernel_rules_table());
    chapter("Summary of sampling", "The keys of `gpu-profile --json` and the fields of `GpuSummary` in Python.",
            summary_fields_table());
    chapter("Warnings of comparisons",
            "`trust` in the JSON of `gpu-profile compare` has one of these codes for each warning.",
            named_table("comparison_warnings", compare::kWarnings));
    chapter("Losses",
            "Everything dropped, repaired or unmatched is counted in the table `loss` under one of these names.",
            losses_table());
    chapter("Exit status", "", exit_codes_table());
    return out;
}

std::vector<ResultTable> reference_tables() {
    std::vector<ResultTable> out;
    out.push_back(named_table("tables", table_specs()));
    ResultTable& columns = out.emplace_back("columns", kTableColumns);
    for (const TableSpec& table : table_specs()) add_columns(columns, table.name, table.columns);
    out.push_back(analyses_table());
    ResultTable& analysis_columns = out.emplace_back("analysis_columns", kAnalysisColumns);
    for (const Analysis* analysis : analyses()) add_columns(analysis_columns, analysis->name, analysis->columns);
    out.push_back(options_table());
    out.push_back(record_settings_table());
    out.push_back(metrics_table());
    out.push_back(pm_counters_table());
    out.push_back(kernel_metrics_table());
    out.push_back(throughput_parts_table());
    out.push_back(stall_reasons_table());
    out.push_back(kernel_rules_table());
    out.push_back(summary_fields_table());
    out.push_back(named_table("comparison_warnings", compare::kWarnings));
    out.push_back(losses_table());
    out.push_back(exit_codes_table());
    out.push_back(named_table("importers", all_importers()));
    out.push_back(named_table("formats", report_formats()));
    out.push_back(rules_table());
    out.push_back(counter_sets_table());
    out.push_back(sql_checks_table());
    out.push_back(json_values_table());
    return out;
}

}  // namespace gpuprof::cli
