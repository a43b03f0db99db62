#include "cli/top/table.h"

#include "cli/top/top_layout.h"
#include "core/base/text/readable.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

constexpr ResultColumn kDevices[] = {
    {"gpu", CellType::integer, Unit::none, "Device number."},
    {"name", CellType::text, Unit::none, "Marketing name."},
    {"util_gpu", CellType::real, Unit::percent, "Share of the driver's window in which at least one kernel ran."},
    {"mem_used", CellType::real, Unit::bytes, "Device memory in use."},
    {"mem_total", CellType::real, Unit::bytes, "Total device memory."},
    {"power_w", CellType::real, Unit::none, "Power in W."},
    {"temp_c", CellType::real, Unit::none, "Temperature in degrees Celsius."},
    {"sm_clock_mhz", CellType::real, Unit::none, "SM clock in MHz."},
    {"throttled_by", CellType::text, Unit::none, "Reasons why clocks are throttled."},
    {"gpm_sm_active", CellType::real, Unit::percent, "GPM: SM activity."},
    {"gpm_tensor", CellType::real, Unit::percent, "GPM: tensor pipe activity."},
    {"gpm_dram", CellType::real, Unit::percent, "GPM: share of memory bandwidth."},
    {"util_mem", CellType::real, Unit::percent, "Share of time with memory traffic."}};

constexpr ResultColumn kProcesses[] = {
    {"gpu", CellType::integer, Unit::none, "Device number."},
    {"pid", CellType::integer, Unit::none, "Process id."},
    {"mem_used", CellType::real, Unit::bytes, "Device memory in use by the process."},
    {"util_gpu", CellType::real, Unit::percent,
     "Share of the sampling window in which the process had a kernel running, as reported by the driver."},
    {"process", CellType::text, Unit::none, "Command line of the process."}};

Cell cell(std::optional<double> value, double factor = 1) { return value ? Cell(*value * factor) : kAbsent; }
Cell text(const std::string& value) { return value.empty() ? kAbsent : Cell(std::string_view(value)); }

}  // namespace

void write_top_tables(const LiveState& state, TimeNs now, const std::map<std::int64_t, std::string>& names,
                      const Style& style, Sink& sink) {
    ResultTable devices("devices", kDevices), processes("processes", kProcesses);
    for (const LiveDevice& device : state.devices()) {
        auto value = [&](Metric metric) { return state.value(device, metric, now); };
        std::optional<double> reasons = value(Metric::throttle);
        std::string held = reasons ? throttling_of(*reasons) : "";
        devices.add_row({std::int64_t{device.known.device}, text(device.known.name), cell(value(Metric::util_gpu)),
                         cell(value(Metric::mem_used), kMib), cell(value(Metric::mem_total), kMib),
                         cell(value(Metric::power)), cell(value(Metric::temp)), cell(value(Metric::sm_clock)),
                         text(held), cell(value(Metric::gpm_sm_active)), cell(value(Metric::gpm_tensor)),
                         cell(value(Metric::gpm_dram)), cell(value(Metric::util_mem))});
        if (!device.problem.empty()) devices.notes.push_back(device.problem);
        for (const ProcessReading& process : state.processes(device, now)) {
            auto name = names.find(process.pid);
            processes.add_row({std::int64_t{process.device}, process.pid, cell(process.mem_used_mb, kMib),
                               cell(process.util_gpu), name == names.end() ? kAbsent : text(name->second)});
        }
    }
    if (!state.problem().empty()) devices.notes.push_back(state.problem());
    write_text_table(devices, style, sink);
    write_notes(devices, style, sink);
    if (processes.rows() > 0) {
        sink.write("\n");
        write_text_table(processes, style, sink);
    }
}

}  // namespace gpuprof::cli
