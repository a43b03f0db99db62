#include "present/query/sql_checks.h"

namespace gpuprof::inline query {
namespace {

// Every op of a device as (device, stream, start_ns, end_ns, what).
#define WORK                                                                           \
    "WITH work AS ("                                                                   \
    "SELECT device, stream, start_ns, end_ns, 'kernel' AS what FROM kernel UNION ALL " \
    "SELECT device, stream, start_ns, end_ns, 'memcpy' FROM memcpy UNION ALL "         \
    "SELECT device, stream, start_ns, end_ns, 'memset' FROM memset) "

constexpr SqlCheck kChecks[] = {
    {"devices",
     WORK "SELECT device, busy(start_ns, end_ns) AS busy_ns, "
          "coalesce(busy(CASE WHEN what = 'kernel' THEN start_ns END, end_ns), 0) AS kernel_busy_ns, "
          "coalesce(busy(CASE WHEN what = 'memcpy' THEN start_ns END, end_ns), 0) AS memcpy_busy_ns, "
          "sum(what = 'kernel') AS kernels, sum(what = 'memcpy') AS memcpys, sum(what = 'memset') AS memsets, "
          "count(DISTINCT stream) AS streams FROM work GROUP BY device",
     "SELECT device, busy_ns, kernel_busy_ns, memcpy_busy_ns, kernels, memcpys, memsets, streams FROM devices "
     "WHERE kernels + memcpys + memsets > 0",
     ""},
    {"kernels",
     "SELECT name, count(*) AS count, sum(dur_ns) AS total_ns, avg(dur_ns) AS mean_ns, min(dur_ns) AS min_ns, "
     "median(dur_ns) AS p50_ns, percentile(dur_ns, 95) AS p95_ns, max(dur_ns) AS max_ns FROM kernel GROUP BY name",
     "", ""},
    {"iterations", "", "", "What marks an engine step, and which launches belong to it, is found by rules."},
    {"phases", "", "", "The phase of an iteration is read from texts and copies, by rules."},
    {"memcpy",
     "SELECT kind, src, dst, count(*) AS count, sum(bytes) AS bytes, sum(dur_ns) AS total_ns "
     "FROM memcpy GROUP BY kind, src, dst",
     "", ""},
    {"memset",
     "SELECT kind AS memory_kind, count(*) AS count, sum(bytes) AS bytes, sum(dur_ns) AS total_ns "
     "FROM memset GROUP BY kind",
     "", ""},
    {"unified_memory",
     "SELECT device, kind AS direction, count(*) AS count, sum(bytes) AS bytes, sum(dur_ns) AS total_ns "
     "FROM memcpy WHERE src = 'managed' AND dst = 'managed' AND coalesce(correlation, 0) = 0 GROUP BY device, kind",
     "", ""},
    {"api",
     "SELECT name, count(*) AS count, sum(dur_ns) AS total_ns, avg(dur_ns) AS mean_ns, median(dur_ns) AS p50_ns, "
     "percentile(dur_ns, 95) AS p95_ns, max(dur_ns) AS max_ns, count(DISTINCT thread) AS threads "
     "FROM api_call GROUP BY name",
     "", ""},
    {"os_calls",
     "SELECT name, count(*) AS count, sum(dur_ns) AS total_ns, avg(dur_ns) AS mean_ns, median(dur_ns) AS p50_ns, "
     "percentile(dur_ns, 95) AS p95_ns, max(dur_ns) AS max_ns, count(DISTINCT thread) AS threads "
     "FROM os_call GROUP BY name",
     "", ""},
    {"launches",
     "SELECT k.name, count(*) AS count, avg(k.dur_ns) AS kernel_mean_ns FROM kernel AS k "
     "JOIN api_call AS a ON a.correlation = k.correlation AND a.process = k.process GROUP BY k.name",
     "", ""},
    {"graphs",
     "SELECT k.process, k.graph_id AS graph, count(DISTINCT k.correlation) AS launches, count(*) AS kernels "
     "FROM kernel AS k JOIN api_call AS a ON a.correlation = k.correlation AND a.process = k.process "
     "WHERE a.name GLOB '*GraphLaunch*' GROUP BY k.process, graph",
     "SELECT process, graph, launches, kernels FROM graphs WHERE kernels > 0", ""},
    {"graph_nodes",
     "SELECT process, graph_node_id AS node, count(*) AS count, sum(dur_ns) AS total_ns FROM kernel "
     "WHERE graph_node_id IS NOT NULL GROUP BY process, node",
     "SELECT process, node, count, total_ns FROM graph_nodes WHERE kind = 'kernel'", ""},
    {"launch_stacks",
     "SELECT stack, count(*) AS launches, sum(dur_ns) AS call_ns FROM api_call WHERE stack IS NOT NULL GROUP BY stack",
     "", ""},
    {"gaps",
     WORK ", runs AS (SELECT device, start_ns, max(end_ns) OVER (PARTITION BY device ORDER BY start_ns "
          "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS idle_from FROM work) "
          "SELECT device, idle_from AS start_ns, start_ns - idle_from AS dur_ns FROM runs "
          "WHERE start_ns - idle_from >= 1000",
     "SELECT device, start_ns, dur_ns FROM gaps WHERE before IS NOT NULL AND after IS NOT NULL", ""},
    {"idle", "SELECT device, window_ns - busy_ns AS idle_ns FROM devices WHERE window_ns > busy_ns",
     "SELECT device, sum(total_ns) AS idle_ns FROM idle GROUP BY device", ""},
    {"overlap",
     WORK "SELECT device, busy(CASE WHEN what = 'kernel' THEN start_ns END, end_ns) AS a_ns, "
          "busy(CASE WHEN what = 'memcpy' THEN start_ns END, end_ns) AS b_ns, "
          "busy(CASE WHEN what = 'kernel' THEN start_ns END, end_ns) "
          "+ busy(CASE WHEN what = 'memcpy' THEN start_ns END, end_ns) - busy(start_ns, end_ns) AS both_ns "
          "FROM work WHERE what <> 'memset' GROUP BY device HAVING a_ns > 0 AND b_ns > 0",
     "SELECT device, a_ns, b_ns, both_ns FROM overlap WHERE a = 'kernel' AND b = 'memcpy' AND a_ns > 0 AND b_ns > 0",
     ""},
    {"ranges", "SELECT count(*) AS count, sum(dur_ns) AS host_total_ns FROM range",
     "SELECT coalesce(sum(count), 0) AS count, sum(host_total_ns) AS host_total_ns FROM ranges", ""},
    {"ops",
     "SELECT name, count(*) AS count FROM op WHERE name GLOB 'aten::mm' OR name GLOB 'aten::conv*' GROUP BY name",
     "SELECT name, count FROM ops WHERE name GLOB 'aten::mm' OR name GLOB 'aten::conv*'",
     "Like key_averages, the analysis counts an operator that calls only itself once; SQL counts rows."},
    {"modules",
     "SELECT count(*) AS count, coalesce(sum(dur_ns), 0) AS host_total_ns FROM python_call WHERE name GLOB 'nn.Module: "
     "*'",
     "SELECT coalesce(sum(count), 0) AS count, coalesce(sum(host_total_ns), 0) AS host_total_ns FROM modules", ""},
    {"hlo",
     "SELECT hlo_module AS module, hlo_op, framework_op, count(*) AS kernels, sum(dur_ns) AS total_ns FROM kernel "
     "WHERE EXISTS (SELECT 1 FROM kernel WHERE hlo_op IS NOT NULL) GROUP BY hlo_module, hlo_op, framework_op",
     "", ""},
    {"communication",
     "SELECT device, comm_busy_ns AS comm_ns, exposed_comm_ns AS exposed_ns FROM devices WHERE comm_busy_ns > 0",
     "SELECT device, sum(comm_ns) AS comm_ns, sum(exposed_ns) AS exposed_ns FROM communication GROUP BY device",
     "SQL cannot tell collectives by their names as the program does; both sides are analyses."},
    {"steps", "SELECT name AS step, start_ns, dur_ns FROM range WHERE name GLOB 'ProfilerStep#*'",
     "SELECT step, start_ns, dur_ns FROM steps WHERE step GLOB 'ProfilerStep#*'", ""},
    {"streams",
     WORK "SELECT device, stream, count(*) AS ops, busy(start_ns, end_ns) AS busy_ns, min(start_ns) AS first_ns, "
          "max(end_ns) AS last_ns FROM work GROUP BY device, stream",
     "", ""},
    {"queue", "", "", "Queue lengths need the call of each op, which is matched by process and correlation on import."},
    {"sequences", "", "", "Kernels are listed by short names, which the program computes."},
    {"memory",
     "SELECT device, max(total_allocated) AS peak_bytes FROM memory_event WHERE device_type <> 0 GROUP BY device",
     "SELECT device, peak_bytes FROM memory WHERE device IS NOT NULL", ""},
    {"allocations",
     "SELECT device, max(total_allocated) AS bytes FROM memory_event WHERE device_type <> 0 GROUP BY device",
     "SELECT device, sum(bytes) AS bytes FROM allocations WHERE device IS NOT NULL GROUP BY device", ""},
    {"memory_trace", "", "",
     "A release belongs to the last allocation at its address; SQL can find it only row by row."},
    {"growth", "", "", "A release belongs to the last allocation at its address; SQL can find it only row by row."},
    {"memory_account", "", "", "The parts come from three sources, joined by time, process and address, row by row."},
    {"memory_curve", "", "", "The parts come from three sources, joined by time, process and address, row by row."},
    {"fragmentation",
     "SELECT device, sum(bytes) AS reserved_bytes, "
     "sum(CASE WHEN state = 'active_allocated' THEN bytes ELSE 0 END) AS allocated_bytes, "
     "sum(CASE WHEN state = 'inactive' THEN bytes ELSE 0 END) AS free_bytes, "
     "count(DISTINCT segment) AS segments FROM memory_block WHERE device IS NOT NULL GROUP BY device",
     "", ""},
    {"collectives",
     "SELECT count(*) AS count, coalesce(sum(dur_ns), 0) AS total_ns FROM kernel "
     "WHERE name GLOB 'nccl*' OR name GLOB 'rccl*'",
     "SELECT coalesce(sum(count), 0) AS count, coalesce(sum(total_ns), 0) AS total_ns FROM collectives", ""},
    {"ranks", "SELECT rank, count(*) AS steps FROM rank_step GROUP BY rank",
     "SELECT rank, steps FROM ranks WHERE steps > 0", "Waits and prices come from matching, aligning and replaying."},
    {"hangs", "", "",
     "Who is missing follows from the dumps of all ranks together, and from what a rank that is missing waits for."},
    {"stragglers", "", "", "Prices are differences between replays of the whole job."},
    {"job_steps", "SELECT step, count(DISTINCT rank) AS ranks FROM rank_step GROUP BY step",
     "SELECT step, ranks FROM job_steps", "Lengths come from replays."},
    {"rank_collectives", "", "", "Collectives of ranks are matched by rules, and their times moved to one clock."},
    {"imbalance", "", "", "Ranks that do the same are found by the collectives of their steps."},
    {"pipeline", "", "", "Stages are found by who sends to whom, and waits need one clock."},
    {"links", "", "", "Transfers begin with the last arrival on one clock, and are compared with equal ones."},
    {"hosts", "", "", "Offsets and rates of clocks are the solution of a least-squares problem."},
    {"samples",
     "SELECT device, metric, pid, count(value) AS count, avg(value) AS mean, min(value) AS min, max(value) AS max "
     "FROM sample WHERE value IS NOT NULL GROUP BY device, metric, pid",
     "", ""},
    {"energy", "", "", "Energy follows from bounds and a regression, which SQL cannot compute."},
    {"step_energy", "", "", "Energy follows from bounds and a regression, which SQL cannot compute."},
    {"cpu",
     "SELECT process, thread, sum(user_ns + system_ns) AS cpu_ns, sum(user_ns) AS user_ns, sum(system_ns) AS "
     "system_ns, "
     "sum(ready_ns) AS ready_ns "
     "FROM cpu_sample GROUP BY process, thread",
     "", ""},
    {"scheduling",
     "SELECT process, thread, sum(dur_ns) AS cpu_ns, count(*) AS slices, sum(coalesce(end_state = 'preempted', 0)) AS "
     "preemptions, "
     "count(DISTINCT cpu) AS cpus FROM cpu_slice WHERE thread IS NOT NULL GROUP BY process, thread",
     "", ""},
    {"stacks", "SELECT thread, count(*) AS samples FROM stack_sample GROUP BY thread",
     "SELECT thread, sum(self_samples) AS samples FROM stacks WHERE self_samples IS NOT NULL GROUP BY thread", ""},
    {"arithmetic",
     "SELECT name, shapes, types, flops / bytes AS flop_per_byte, flops / (device_ns / 1e9) AS flop_per_s, "
     "bytes / device_ns AS gb_per_s FROM arithmetic",
     "", "FLOPs and bytes follow from shapes by rules per operator; SQL checks only the rates derived from them."},
    {"counters",
     "SELECT launch, name, dur_ns, (SELECT count(*) FROM kernel_counter AS c WHERE c.launch = k.launch) AS counters, "
     "device FROM profiled_kernel AS k",
     "", ""},
    {"limits", "", "", "What holds a kernel back is judged by rules over its counters (`metrics`)."},
    {"advice", "", "", "Findings are rules over counters; each names those it is based on."},
    {"kernel", "", "", "The counters of one kernel, selected by an option; `metrics` has those of all."},
    {"metrics", "", "",
     "Counters have several names and scaled units; a table of both is in the program, not in the recording."},
    {"stalls", "", "", "Shares of counters of `metrics` that have a name for each reason."},
    {"roofline",
     "SELECT kernel, precision, level, flop_per_s / bytes_per_s AS flop_per_byte, "
     "min(peak_flop_per_s, peak_bytes_per_s * flop_per_s / bytes_per_s) AS roof_flop_per_s FROM roofline "
     "WHERE roof_flop_per_s IS NOT NULL",
     "SELECT kernel, precision, level, flop_per_byte, roof_flop_per_s FROM roofline WHERE roof_flop_per_s IS NOT NULL",
     ""},
    {"tool_advice", "SELECT launch, rule, kind, gain_kind, gain_pct, section, text FROM kernel_advice", "", ""},
    {"occupancy",
     "SELECT name, device, block_x || ',' || block_y || ',' || block_z AS block, registers, shared_bytes, "
     "count(*) AS launches, sum(dur_ns) AS total_ns FROM kernel WHERE block_x IS NOT NULL "
     "GROUP BY name, device, block, registers, shared_bytes",
     "SELECT name, device, block, registers, shared_bytes, sum(launches) AS launches, sum(total_ns) AS total_ns "
     "FROM occupancy WHERE source = 'timeline' GROUP BY name, device, block, registers, shared_bytes",
     "Occupancy follows from rules of the hardware; SQL checks only the grouping."},
    {"occupancy_curves", "", "", "Occupancy follows from rules of the hardware."},
    {"source",
     "SELECT function AS name, file, line, device, CAST(sum(value) AS INTEGER) AS samples FROM instruction_counter "
     "WHERE metric GLOB 'samples.*' AND metric NOT GLOB '*_not_issued' GROUP BY function, file, line, device, "
     "CASE WHEN line IS NULL AND text IS NOT NULL THEN offset END",
     "SELECT name, file, line, device, samples FROM source WHERE samples IS NOT NULL", ""},
    {"line_stalls",
     "SELECT function AS name, file, line, device, substr(metric, 9) AS reason, CAST(sum(value) AS INTEGER) AS samples "
     "FROM instruction_counter WHERE metric GLOB 'samples.*' AND metric NOT GLOB '*_not_issued' "
     "GROUP BY function, file, line, device, CASE WHEN line IS NULL AND text IS NOT NULL THEN offset END, reason "
     "HAVING sum(value) > 0",
     "SELECT name, file, line, device, reason, samples FROM line_stalls", ""},
    {"gpu_trace", WORK "SELECT start_ns, end_ns - start_ns AS dur_ns, what AS kind, device, stream FROM work", "", ""},
    {"api_trace", "SELECT start_ns, dur_ns, name, error, correlation, process, thread FROM api_call", "", ""},
    {"os_trace", "SELECT start_ns, dur_ns, name, thread, stack FROM os_call", "", ""},
    {"range_trace", "SELECT start_ns, dur_ns, name, thread, domain, category FROM range", "", ""},
    {"validity", "", "", "Most checks repair the rows that they find, so only `losses` has their count."},
    {"losses", "SELECT kind, sum(count) AS count FROM loss GROUP BY kind", "", ""},
    {"whatif", "", "", "A prediction replays every call and operation in order; a query has no such loop."},
    {"criticalpath", "", "", "The path is found by a replay, as in `whatif`."},
    {"findings", "", "", "Findings are rules over other analyses; each names the rows it is based on."},
    {"summary", "", "", "The summary repeats figures of other analyses."},
};

#undef WORK

}  // namespace

std::span<const SqlCheck> sql_checks() { return kChecks; }

const SqlCheck* sql_check(std::string_view analysis) {
    for (const SqlCheck& check : kChecks)
        if (check.analysis == analysis) return &check;
    return nullptr;
}

}  // namespace gpuprof::query
