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
    {1, ExitCode::unreadable, "invalid argument; check that the stream belongs to this process and still exists"},
    {2, ExitCode::unreadable,
     "the device is out of memory; free some, or time with a warm cache (hot), which needs no buffer"},
    {3, ExitCode::unreadable, "the driver is not initialised"},
    {4, ExitCode::unreadable, "the driver is shutting down; measure before the program exits"},
    {34, ExitCode::unreadable, "this is a stub library for linking, not the driver's"},
    {46, ExitCode::unreadable, "the device is unavailable: another process uses it in exclusive mode"},
    {100, ExitCode::unreadable, "no CUDA device found; use the host timer for CPU functions"},
    {101, ExitCode::usage, "no device has this number"},
    {200, ExitCode::unreadable, "the driver rejected the PTX of the blocking kernel; disable it (no_blocking)"},
    {201, ExitCode::unreadable, "no CUDA context is current, or it was destroyed"},
    {209, ExitCode::unreadable, "the blocking kernel does not run on this device; disable it (no_blocking)"},
    {218, ExitCode::unreadable, "the driver rejected the PTX of the blocking kernel; disable it (no_blocking)"},
    {222, ExitCode::unreadable,
     "the driver is older than the PTX of the blocking kernel; update the driver, or disable the kernel (no_blocking)"},
    {400, ExitCode::usage, "invalid handle; check that the stream belongs to this process and still exists"},
    {500, ExitCode::unreadable, "the driver's library lacks a symbol"},
    {600, ExitCode::unreadable, "the work is not ready"},
    {700, ExitCode::unreadable, "the code under test accessed an illegal address; locate it with compute-sanitizer"},
    {701, ExitCode::unreadable, "a launch requires more resources than the device has"},
    {702, ExitCode::unreadable, "a kernel ran longer than the display's watchdog allows"},
    {709, ExitCode::unreadable, "the context is being destroyed"},
    {710, ExitCode::unreadable, "an assertion failed in a kernel of the code under test"},
    {716, ExitCode::unreadable, "the code under test accessed a misaligned address"},
    {719, ExitCode::unreadable, "a kernel of the code under test failed; locate it with compute-sanitizer"},
    {800, ExitCode::not_permitted, "not permitted on this system"},
    {801, ExitCode::unreadable, "not supported by this device or driver"},
    {802, ExitCode::unreadable, "the system is not ready; check that the fabric manager runs"},
    {803, ExitCode::unreadable,
     "the versions of the driver's kernel module and library differ; reload the module or reboot"},
    {804, ExitCode::unreadable, "the compatibility library does not support this device"},
    {900, ExitCode::usage,
     "the stream cannot be captured: the work waits for the device, or this is the legacy default stream; use a "
     "separate "
     "stream, or time without graph"},
    {901, ExitCode::usage,
     "the capture failed: the work does something that a graph cannot contain; time without graph"},
    {902, ExitCode::usage, "the work merged two captures; time without graph"},
    {904, ExitCode::usage, "the work left a stream unjoined; time without graph"},
    {905, ExitCode::usage, "the work uses another stream in a way that a graph cannot contain; time without graph"},
    {906, ExitCode::usage, "the work uses the legacy default stream; CUDA cannot capture it; time without graph"},
    {908, ExitCode::usage, "the capture began on another thread"},
    {999, ExitCode::unreadable, "the driver failed for an unknown reason; check nvidia-smi"},
};

template <class Prototype>
void bind(const Library& library, const char* newest, const char* older, Function<Prototype>& to) {
    to.name = newest;
    void* found = library.symbol(newest);
    if (found == nullptr && *older != '\0') {
        found = library.symbol(older);
        to.name = older;
    }
    to.pointer = reinterpret_cast<decltype(to.pointer)>(found);
}

}  // namespace

Error explain(const std::string& function, int code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code)
            return {meaning.exit, fmt::format("{} returned {}: {}", function, code, meaning.text)};
    return {ExitCode::unreadable, fmt::format("{} returned {}; see CUresult {} in cuda.h", function, code, code)};
}

Result<Api> load_api() {
    std::string named = trusted_environment("GPUPROF_CUDA"), name = named.empty() ? "libcuda.so.1" : named;
    Result<Library> library = Library::open(std::span(&name, 1));
    if (!library.ok())
        return Error{
            ExitCode::unreadable,
            fmt::format("no CUDA driver found ({}); use the host timer for CPU functions", library.error().message)};
    Api api;
    api.path = library->path();
#define GPUPROF_CUDA_BIND(member, newest, older, parameters) bind(*library, newest, older, api.member);
    GPUPROF_CUDA_FUNCTIONS(GPUPROF_CUDA_BIND)
#undef GPUPROF_CUDA_BIND
    return api;
}

}  // namespace gpuprof::measure::cuda
