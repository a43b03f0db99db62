// A small table and an answer for the tests of reports.
#pragma once

#include <string>

#include "core/model/answer.h"
#include "present/report/report.h"

namespace gpuprof::example {

inline constexpr ResultColumn kKernelColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"count", CellType::integer, Unit::count, "Executions."},
    {"total_ns", CellType::integer, Unit::ns, "Sum."},
    {"share_pct", CellType::real, Unit::percent, "Share."},
    {"mean_ns", CellType::real, Unit::ns, "Mean."},
    {"std_ns", CellType::real, Unit::ns, "Deviation."},
    {"grid", CellType::text, Unit::none, "Launch shape."},
    {"blocking", CellType::boolean, Unit::none, "Blocks."},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory."},
};
inline constexpr ResultColumn kIdleColumns[] = {
    {"device", CellType::integer, Unit::none, "Device."},
    {"cause", CellType::text, Unit::none, "Cause."},
    {"total_ns", CellType::integer, Unit::ns, "Idle time."},
};
inline constexpr ResultColumn kDeviceColumns[] = {
    {"device", CellType::integer, Unit::none, "Device."},
    {"busy_pct", CellType::real, Unit::percent, "Busy."},
};

inline ResultTable kernels(int rows) {
    ResultTable table("kernels", kKernelColumns);
    table.handle_prefix = "k";
    for (std::int64_t i = 1; i <= rows; ++i) {
        std::string name =
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, "
            "3ul> >(int, " +
            std::to_string(i) + ")";
        table.add_row({std::string_view(name), 1234 * i, 1234567890 / i, 50.0 / static_cast<double>(i), 1000.25,
                       kAbsent, kAbsent, i % 2 == 0, 48 * 1024 * i});
    }
    return table;
}

inline ResultTable idle() {
    ResultTable table("idle", kIdleColumns);
    std::int64_t total = 1600000000;
    for (std::string_view cause : {"input pipeline", "host compute", "launch", "synchronisation", "host memcpy",
                                   "nothing submitted", "unknown"}) {
        table.add_row({std::int64_t{0}, cause, total});
        total /= 9;
    }
    return table;
}

inline Finding finding(int rank) {
    Finding found;
    found.id = "input-pipeline";
    found.severity = rank == 0 ? Rating::high : Rating::low;
    found.cost_ns = 1600000000 / (rank + 1);
    found.share_pct = 66.3 / (rank + 1);
    found.title = "The GPU waits for the data loader";
    found.evidence = {"gap-1: 45.2 ms inside enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                      "60 of 64 steps begin with such a gap"};
    found.remedy =
        "Give the DataLoader workers (num_workers > 0), pin_memory=True and a prefetch_factor; move augmentation to "
        "the GPU if the CPU is full.";
    found.confidence = Rating::high;
    found.would_change_if = "the loader's own time is shorter than the gaps";
    return found;
}

inline Answer answer() {
    Answer out;
    out.trust.statements = {
        {false, "torch.profiler, 2.34 s window, NVIDIA H200: 12,345 kernels, 300 memcpys, 20 memsets"},
        {false, "no records lost"},
        {true,
         "the profiler slowed the host: writing 120,000 host records cost about 300 ms or more, enough to explain all "
         "of the "
         "200 ms the GPU waited for launches and host code; without the profiler those gaps may not exist"}};
    out.window = {1000, 2340001000};
    out.verdict.name = "input-bound";
    out.verdict.share_pct = out.verdict.gives_back_pct = 66.3;
    out.verdict.because =
        "the GPU is busy 26.1 % of the window; in 88 % of the idle time the host was inside the data loader (gap-1, "
        "gap-2)";
    out.verdict.alternatives.push_back({"launch-bound", 4.2, 4.2, "many small kernels"});
    BusyProfile picture{0, {}};
    for (int i = 0; i < 200; ++i) picture.busy.push_back(i % 20 < 5 ? 0.8 : 0);
    out.busy_profiles.push_back(picture);
    ResultTable devices("devices", kDeviceColumns);
    devices.add_row({std::int64_t{0}, 26.1});
    out.tables.push_back(std::move(devices));
    out.tables.push_back(idle());
    out.tables.push_back(kernels(12));
    for (int rank = 0; rank < 6; ++rank) out.findings.push_back(finding(rank));
    out.next_steps = {"gpu-profile report trace.json.gz gaps idle", "gpu-profile report trace.json.gz findings"};
    return out;
}

inline Report report_of(const Answer& answer) {
    return {.version = "1.2.3",
            .origin = {"trace.json.gz", "kineto", "torch.profiler"},
            .window = answer.window,
            .trust = answer.trust,
            .answer = &answer,
            .first_answer = true,
            .all_findings = false,
            .tables = {}};
}

}  // namespace gpuprof::example
