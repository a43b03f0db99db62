// Codes: the enumeration CUresult in cuda.h of CUDA 13.
#include "measure/cuda_api.h"

#include <fmt/format.h>

#include <span>

#include "collect/dl/library.h"
#include "core/base/environment.h"

namespace gpuprof::measure::cuda {
namespace {

struct Meaning {
    int code;
    ExitCode exit;
    const char* text;
};

constexpr Meaning kMeanings[] = {
    {1, ExitCode::unreadable, "an argument is not valid; is the stream handle one of this process and still alive?"},
    {2, ExitCode::unreadable,
     "the device is out of memory; free some, or time with a hot cache, which needs no buffer"},
    {3, ExitCode::unreadable, "the driver is not initialised"},
    {4, ExitCode::unreadable, "the driver is shutting down; measure before the program's exit"},
    {34, ExitCode::unreadable, "this is a library of stubs for linking, not the driver's"},
    {46, ExitCode::unreadable, "the device is not available: another process has it in exclusive mode"},
    {100, ExitCode::unreadable, "there is no CUDA device; `timer: host` times CPU functions"},
    {101, ExitCode::usage, "there is no device of this number"},
    {200, ExitCode::unreadable, "the PTX of the blocking kernel was refused; go on without it (no_blocking)"},
    {201, ExitCode::unreadable, "no context is current, or it was destroyed"},
    {209, ExitCode::unreadable, "the blocking kernel does not run on this device; go on without it (no_blocking)"},
    {218, ExitCode::unreadable, "the PTX of the blocking kernel was refused; go on without it (no_blocking)"},
    {222, ExitCode::unreadable,
     "the driver is older than the PTX of the blocking kernel; update it, or go on without (no_blocking)"},
    {400, ExitCode::usage, "a handle is not valid; is the stream one of this process and still alive?"},
    {500, ExitCode::unreadable, "something is missing in the driver's library"},
    {600, ExitCode::unreadable, "the work is not ready"},
    {700, ExitCode::unreadable,
     "an illegal address was accessed by the work under test; compute-sanitizer finds where"},
    {701, ExitCode::unreadable, "a launch needs more resources than the device has"},
    {702, ExitCode::unreadable, "a kernel ran longer than the display's watchdog allows"},
    {709, ExitCode::unreadable, "the context is being destroyed"},
    {710, ExitCode::unreadable, "an assertion failed in a kernel of the work under test"},
    {716, ExitCode::unreadable, "a misaligned address was accessed by the work under test"},
    {719, ExitCode::unreadable, "a kernel of the work under test failed; compute-sanitizer finds where"},
    {800, ExitCode::not_permitted, "the system does not permit it"},
    {801, ExitCode::unreadable, "this device or driver does not support it"},
    {802, ExitCode::unreadable, "the system is not ready; is the fabric manager running?"},
    {803, ExitCode::unreadable,
     "the driver's kernel module and its library are of different versions; reload the module or reboot"},
    {804, ExitCode::unreadable, "the compatibility library does not go with this device"},
    {900, ExitCode::usage,
     "the stream cannot be captured: the work waits for the device, or this is the legacy default stream; give a "
     "stream of its own, or time without graph"},
    {901, ExitCode::usage,
     "the capture was spoilt: the work does something that a graph cannot hold; time without graph"},
    {902, ExitCode::usage, "the work merged two captures; time without graph"},
    {904, ExitCode::usage, "the work left a stream unjoined; time without graph"},
    {905, ExitCode::usage, "the work uses another stream in a way that a graph cannot hold; time without graph"},
    {906, ExitCode::usage, "the work uses the legacy default stream, which cannot be captured; time without graph"},
    {908, ExitCode::usage, "the capture began on another thread"},
    {999, ExitCode::unreadable, "the driver failed and does not say why; nvidia-smi may"},
};

template <class Prototype>
void bind(const Library& library, const char* newest, const char* older, Function<Prototype>& to) {
    to.name = newest;
    void* found = library.symbol(newest);
    if (found == nullptr && *older != '\0') found = library.symbol(older), to.name = older;
    to.pointer = reinterpret_cast<decltype(to.pointer)>(found);
}

}  // namespace

Error explain(const std::string& function, int code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code)
            return {meaning.exit, fmt::format("{} answered {}: {}", function, code, meaning.text)};
    return {ExitCode::unreadable,
            fmt::format("{} answered {}; cuda.h says what CUresult {} means", function, code, code)};
}

Result<Api> load_api() {
    std::string named = trusted_environment("GPUPROF_CUDA"), name = named.empty() ? "libcuda.so.1" : named;
    Result<Library> library = Library::open(std::span(&name, 1));
    if (!library.ok())
        return Error{ExitCode::unreadable,
                     fmt::format("there is no CUDA driver here ({}); `timer: host` times CPU functions",
                                 library.error().message)};
    Api api;
    api.path = library->path();
#define GPUPROF_CUDA_BIND(member, newest, older, parameters) bind(*library, newest, older, api.member);
    GPUPROF_CUDA_FUNCTIONS(GPUPROF_CUDA_BIND)
#undef GPUPROF_CUDA_BIND
    return api;
}

}  // namespace gpuprof::measure::cuda
