#include "core/model/privacy/scrub.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "core/model/build/merge_traces.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {
namespace {

// Facts that are kept; all others, such as metadata added by the program, are removed.
constexpr std::string_view kOpenFacts[] = {meta_key::kTool,
                                           meta_key::kOnProgramThreads,
                                           meta_key::kOnOwnThread,
                                           meta_key::kGivenToOther,
                                           meta_key::kYielded,
                                           meta_key::kCuptiInterface,
                                           meta_key::kOtherSubscriptions,
                                           meta_key::kKeptOut,
                                           meta_key::kStreamCalls,
                                           meta_key::kCallRecordNs,
                                           meta_key::kCallRecordLowNs,
                                           meta_key::kCallRecordHighNs,
                                           meta_key::kCallRecordUnknown,
                                           meta_key::kWindowClosedAt,
                                           meta_key::kDeviceClock,
                                           meta_key::kKeptStep,
                                           meta_key::kSlowSteps,
                                           meta_key::kNoSteps,
                                           "importer",
                                           "record.full_after_ns",
                                           "debug_env",
                                           "cuda_launch_blocking",
                                           "profiler_span_start_ns",
                                           "profiler_span_dur_ns",
                                           "sample_times",
                                           "nsys.schema",
                                           "nsys.cuda_graph_trace",
                                           "nsys.skips_some_api_calls",
                                           "driver_version",
                                           "cuda_driver_version",
                                           "cuda_runtime_version",
                                           "cupti_version",
                                           "os",
                                           "cpu",
                                           "schemaVersion",
                                           "displayTimeUnit",
                                           "baseTimeNanoseconds",
                                           "record_shapes",
                                           "with_stack",
                                           "with_flops",
                                           "with_modules",
                                           "profile_memory",
                                           "distributedInfo.backend",
                                           "distributedInfo.rank",
                                           "distributedInfo.world_size",
                                           "clock.start.synchronised",
                                           "clock.start.offset_ns",
                                           "clock.start.max_error_ns",
                                           "clock.start.estimated_error_ns",
                                           "clock.start.frequency_ppm",
                                           "clock.end.synchronised",
                                           "clock.end.offset_ns",
                                           "clock.end.max_error_ns",
                                           "clock.end.estimated_error_ns",
                                           "clock.end.frequency_ppm",
                                           "PYTORCH_CUDA_ALLOC_CONF"};

bool is_open(std::string_view key) {
    return std::find(std::begin(kOpenFacts), std::end(kOpenFacts), key) != std::end(kOpenFacts);
}

class Scrubber {
public:
    Scrubber(const StringPool& texts, StringPool& into, ScrubOptions options)
        : texts_(texts), into_(into), names_(options) {}

    void learn(const Tables& tables, std::string_view tool) {
        each_distinct(tables, [&](Privacy privacy, std::string_view text) { names_.learn_names(privacy, text); });
        each_distinct(tables, [&](Privacy privacy, std::string_view text) { names_.learn(privacy, text); });
        names_.learn(Privacy::term, tool);
        names_.number();
    }

    std::string tool(std::string_view name) { return names_.scrub(Privacy::term, name); }

    void replace(Tables& tables) {
        std::vector<bool> open = open_facts(tables.meta);
        each_text(tables, [&](Privacy privacy, Column<StringId>& column, std::size_t rows) {
            Column<StringId> made;
            std::unordered_map<std::uint32_t, StringId> known;
            for (Row row = 0; row < rows && privacy != Privacy::removed; ++row) {
                if (!column.has(row) || (privacy == Privacy::fact && !open[row])) continue;
                auto [found, added] = known.try_emplace(index_of(column[row]), kNoString);
                if (added) {
                    std::string text = names_.scrub(privacy, texts_[column[row]]);
                    bool nothing_left = text.empty() && !texts_[column[row]].empty();
                    found->second = nothing_left ? kNoString : into_.intern(text);
                }
                if (found->second != kNoString) made.set(row, found->second);
            }
            made.pad(rows);
            column = std::move(made);
        });
    }

private:
    std::vector<bool> open_facts(const MetaTable& meta) const {
        std::vector<bool> open(meta.rows);
        for (Row row = 0; row < meta.rows; ++row) open[row] = meta.key.has(row) && is_open(texts_[meta.key[row]]);
        return open;
    }

    template <class Visit>
    void each_distinct(const Tables& tables, Visit&& visit) const {
        each_text(tables, [&](Privacy privacy, const Column<StringId>& column, std::size_t rows) {
            std::vector<bool> seen(texts_.size());
            for (Row row = 0; row < rows; ++row) {
                if (!column.has(row) || seen[index_of(column[row])]) continue;
                seen[index_of(column[row])] = true;
                visit(privacy, texts_[column[row]]);
            }
        });
    }

    template <class AnyTables, class Visit>
    static void each_text(AnyTables& tables, Visit&& visit) {
        tables.each_table([&](const TableSpec&, auto& table) {
            table.each_column([&](const ColumnSpec& column_spec, auto& column) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, Column<StringId>>)
                    visit(column_spec.privacy, column, table.rows);
            });
        });
    }

    const StringPool& texts_;
    StringPool& into_;
    ScrubNames names_;
};

}  // namespace

Trace scrubbed(Trace given, ScrubOptions options) {
    std::string importer = given.origin().importer, tool = given.origin().tool;
    Batch old = batch_of(std::move(given)), clean;  // `clean` has its own strings: nothing of the old ones remains
    Scrubber scrubber(old.strings, clean.strings, options);
    scrubber.learn(old.tables, tool);
    scrubber.replace(old.tables);
    TraceBuilder builder({"scrubbed", importer, scrubber.tool(tool)});
    clean.tables = std::move(old.tables);
    builder.append(std::move(clean));
    return std::move(builder).finish();
}

}  // namespace gpuprof::model
