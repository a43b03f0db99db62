// Samples every GPU while some work runs, with gpuprof::Monitor (collect/device/monitor.h).
#include <chrono>
#include <cstdio>
#include <thread>

#include "collect/device/monitor.h"

int main(int argc, char** argv) {
    gpuprof::MonitorOptions options;
    options.request.devices = "all";
    if (argc > 1) options.request.backend = argv[1];
    gpuprof::Monitor monitor(options);
    if (gpuprof::Status status = monitor.start(); !status) {
        std::fprintf(stderr, "%s\n", status.error().message.c_str());
        return 1;
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));  // your work
    monitor.stop();
    for (const gpuprof::GpuSummary& summary : monitor.summaries()) std::printf("%s", to_text(summary).c_str());
}
