// The program gpu-profile. run_program() does everything; main() is only the last resort: every failure ends in one
// line and an exit code, never in a stack trace.
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "cli/program.h"
#include "collect/counters/host_process.h"
#include "collect/device/sampler_process.h"
#include "collect/pm/counter_process.h"
#include "core/base/exit_code.h"
#include "core/base/text/utf8.h"

int main(int argc, char** argv) {
    try {
        // This program or libgpuprof.so starts itself this way, to talk to the driver in a separate process.
        if (argc == 2 && std::strcmp(argv[1], gpuprof::kSamplerArgument) == 0) return gpuprof::run_sampler_process();
        if (argc == 2 && std::strcmp(argv[1], gpuprof::pm::kCounterArgument) == 0)
            return gpuprof::pm::run_counter_process();
        if (argc == 2 && std::strcmp(argv[1], gpuprof::counters::kHostArgument) == 0)
            return gpuprof::counters::run_host_process();
        return gpuprof::run_program(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("gpu-profile: out of memory\n", stderr);
    } catch (const std::system_error& error) {  // of a thread that the system refuses
        std::fprintf(stderr, "gpu-profile: refused by the system: %s\n", error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gpu-profile: internal error: %s\n", gpuprof::printable(error.what()).c_str());
    } catch (...) {
        std::fputs("gpu-profile: internal error\n", stderr);
    }
    return static_cast<int>(gpuprof::ExitCode::internal);
}
