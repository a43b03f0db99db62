// The program gpu-profile. Everything is in run_program(); here is only the last net: whatever goes wrong ends in one
// line and an exit code, never in a trace of the stack.
#include <cstdio>
#include <exception>
#include <new>

#include "cli/program.h"
#include "core/base/exit_code.h"

int main(int argc, char** argv) {
    try {
        return gpuprof::run_program(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("gpu-profile: out of memory\n", stderr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gpu-profile: internal error: %s\n", error.what());
    } catch (...) {
        std::fputs("gpu-profile: internal error\n", stderr);
    }
    return static_cast<int>(gpuprof::ExitCode::internal);
}
