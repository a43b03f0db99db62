// The analysis database of rocprof-compute (`analyze --output-format db`): the dispatches of each kernel, and metrics of
// each kernel over all of its dispatches. Metrics of whole workloads, rooflines and samples of instructions are counted as
// unread. Views are not evaluated.
// Format: ROCm/rocm-systems, projects/rocprofiler-compute, src/utils/analysis_orm.py.
#include <fmt/format.h>
#include <simdjson.h>

#include "core/base/text/ascii.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::rocpd {
namespace {

class ComputeReader {
public:
    ComputeReader(const Database& database, Batch& batch) : database_(database), batch_(batch) {}

    void read() {
        read_workloads();
        Scan rows = scan("kernel");
        auto id = rows.column("kernel_uuid"), name = rows.column("kernel_name"), workload = rows.column("workload_id");
        while (rows.next())
            if (auto number = rows.integer(id)) {
                std::string_view text = rows.text(name);
                Kernel& kernel = kernels_[*number];
                if (!text.empty()) kernel.name = batch_.intern(text);
                kernel.workload = rows.integer(workload).value_or(-1);
            }
        read_dispatches();
        read_metrics();
        for (std::string_view unread : {"workload_metric_value", "kernel_roofline_data", "workload_roofline_data",
                                        "roofline_data", "pc_sample_state", "pcsampling", "instruction_line"}) {
            std::string table = fmt::format("compute_{}", unread);
            auto known = database_.tables().find(table);
            if (known == database_.tables().end() || known->second.empty()) continue;
            Scan others(database_, table, batch_);
            others.column(known->second.begin()->c_str());
            std::uint64_t n = 0;
            while (others.next()) ++n;
            if (n > 0) batch_.lose_named(Loss::unread_table, "", table, n);
        }
    }

private:
    struct Kernel {
        StringId name = kNoString;
        std::int64_t workload = -1, launch = 0, dispatches = 0;
        std::optional<std::int32_t> gpu;
        DurNs dur = 0;
    };
    struct Metric {
        StringId section = kNoString, unit = kNoString;
        std::string name;
    };

    Scan scan(std::string_view name) { return Scan(database_, "compute_" + std::string(name), batch_); }

    // What was profiled, with the GPU's model; the settings may name files and hosts, and are not read.
    void read_workloads() {
        Scan rows = scan("workload");
        auto id = rows.column("workload_id"), system = rows.column("sys_info_extdata");
        simdjson::dom::parser parser;
        while (rows.next()) {
            auto number = rows.integer(id);
            simdjson::dom::element facts;
            std::string_view model;
            std::string text(rows.text(system));
            if (number && parser.parse(text).get(facts) == simdjson::SUCCESS &&
                facts["gpu_model"].get(model) == simdjson::SUCCESS)
                models_[*number] = model;
        }
    }

    void read_dispatches() {
        Scan rows = scan("dispatch");
        auto of = rows.column("kernel_uuid"), gpu = rows.column("gpu_id"), start = rows.column("start_timestamp"),
             end = rows.column("end_timestamp");
        KernelTable& table = batch_.tables.kernel;
        while (rows.next()) {
            auto row = span_row(table, rows, start, end, batch_);
            if (!row) continue;
            auto kernel = kernels_.find(rows.integer(of).value_or(-1));
            auto device = rows.narrow(gpu);
            bool known = device && *device >= 0;
            if (known) table.device.set(*row, *device);
            if (kernel == kernels_.end()) continue;
            set_known(table.name, *row, kernel->second.name);
            ++kernel->second.dispatches;
            kernel->second.dur = table.dur.is_skipped() ? 0 : table.dur[*row];
            kernel->second.gpu = known ? device : std::nullopt;
            if (known) add_device(batch_, devices_, *device, "amd", models_[kernel->second.workload]);
        }
    }

    void read_metrics() {
        Scan known = scan("metric_definition");
        auto id = known.column("metric_uuid"), name = known.column("name"), part = known.column("table_name"),
             below = known.column("sub_table_name"), unit = known.column("unit");
        while (known.next()) {
            auto number = known.integer(id);
            if (!number) continue;
            Metric& metric = metrics_[*number];
            metric.name = known.text(name);
            std::string section(known.text(part));
            if (std::string_view more = known.text(below); !more.empty() && more != section)
                section.append(section.empty() ? "" : ": ").append(more);
            if (!section.empty()) metric.section = batch_.intern(section);
            if (std::string_view text = known.text(unit); !text.empty()) metric.unit = batch_.intern(text);
        }
        read_values("kernel_metric_value");
        read_values("metric_value");  // its name before schema 2
    }

    // Average, minimum, maximum and peak of a metric over the dispatches of a kernel.
    void read_values(std::string_view table) {
        Scan rows = scan(table);
        auto of = rows.column("kernel_uuid"), metric = rows.column("metric_uuid"), what = rows.column("value_name"),
             value = rows.column("value");
        KernelCounterTable& counters = batch_.tables.kernel_counter;
        while (rows.next()) {
            auto number = rows.real(value);
            auto kernel = kernels_.find(rows.integer(of).value_or(-1));
            auto known = metrics_.find(rows.integer(metric).value_or(-1));
            if (!number) continue;  // not computed for this kernel
            if (kernel == kernels_.end() || known == metrics_.end()) {
                batch_.lose(Loss::missing_field, "metrics without kernel or name");
                continue;
            }
            std::string_view statistic = rows.text(what);
            std::string lower(statistic);
            for (char& c : lower) c = to_lower(c);
            bool share = lower.starts_with("pct") || lower.starts_with("percent");
            bool plain = lower.empty() || lower == "avg" || lower == "value";
            Row row = counters.add();
            counters.launch.set(row, launch_of(kernel->second));
            set_known(counters.section, row, known->second.section);
            counters.metric.set(
                row, batch_.intern(plain ? known->second.name : fmt::format("{} ({})", known->second.name, statistic)));
            if (share)
                counters.unit.set(row, batch_.intern("%"));
            else if (known->second.unit != kNoString)
                counters.unit.set(row, known->second.unit);
            counters.value.set(row, *number);
        }
    }

    // A kernel has a row if it has metrics; its duration is that of its dispatch, if it has one alone.
    std::int64_t launch_of(Kernel& kernel) {
        if (kernel.launch != 0) return kernel.launch;
        ProfiledKernelTable& table = batch_.tables.profiled_kernel;
        Row row = table.add();
        kernel.launch = static_cast<std::int64_t>(row) + 1;
        table.launch.set(row, kernel.launch);
        set_known(table.device, row, kernel.gpu);
        set_known(table.name, row, kernel.name);
        if (kernel.dispatches == 1) table.dur.set(row, kernel.dur);
        table.kind.set(row, batch_.intern("kernel"));
        table.tool.set(row, batch_.intern("rocprof-compute"));
        return kernel.launch;
    }

    const Database& database_;
    Batch& batch_;
    std::unordered_map<std::int64_t, std::string> models_;  // of GPUs, by workload
    std::unordered_map<std::int64_t, Kernel> kernels_;
    std::unordered_map<std::int64_t, Metric> metrics_;
    std::set<std::int32_t> devices_;
};

}  // namespace

void read_compute(const Database& database, Batch& batch) { ComputeReader(database, batch).read(); }

}  // namespace gpuprof::importers::rocpd
