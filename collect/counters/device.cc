#include "collect/counters/device.h"

#include <array>

#include "collect/device/running_call.h"
#include "collect/dl/library.h"

namespace gpuprof::counters {
namespace {

// Source: cuda.h, CUdevice_attribute.
constexpr int kSms = 16, kMajor = 75, kMinor = 76;

class Driver {
public:
    static Result<Driver> open() {
        const std::array<std::string, 2> names{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
        Result<Library> library = Library::open(names);
        if (!library.ok())
            return Error{ExitCode::empty,
                         "cannot load libcuda.so.1; install the NVIDIA driver, or start the container with --gpus all"};
        return Driver(std::move(*library));
    }

    // Calls one function of the driver; a missing one answers 500 (not found), as in CUDA.
    template <class... Arguments>
    int call(const char* name, Arguments... arguments) const {
        auto function = reinterpret_cast<int (*)(Arguments...)>(library_.symbol(name));
        if (function == nullptr) return 500;
        RunningCallScope mark(name);
        return function(arguments...);
    }
    template <class... Arguments>
    Status need(const char* name, Arguments... arguments) const {
        int code = call(name, arguments...);
        return code == 0 ? Status() : Status(pm::explain_cuda(name, code));
    }
    std::uint32_t attribute(int which) const {
        int value = 0;
        return call("cuDeviceGetAttribute", &value, which, 0) == 0 ? static_cast<std::uint32_t>(value) : 0;
    }

private:
    explicit Driver(Library library) : library_(std::move(library)) {}
    Library library_;
};

Status read_availability(const Api& api, void* context, Chip& chip) {
    range::GetAvailability asked;
    asked.context = context;
    if (Status status = api.availability(asked); !status) return status;
    chip.availability.resize(asked.bytes);
    asked.image = chip.availability.data();
    return api.availability(asked);
}

}  // namespace

Result<Device> find_device(const Api& api) {
    Result<Driver> driver = Driver::open();
    if (!driver.ok()) return driver.error();
    Device device;
    if (Status status = driver->need("cuInit", 0u); !status) return status.error();
    if (Status status = driver->need("cuDeviceGetCount", &device.count); !status) return status.error();
    if (device.count == 0) return Error{ExitCode::empty, "the driver reports no GPU to this process"};
    void* context = nullptr;
    if (Status status = driver->need("cuDevicePrimaryCtxRetain", &context, 0); !status) return status.error();
    if (Status status = driver->need("cuCtxSetCurrent", context); !status) return status.error();
    pm::ProfilerInitialize initialize;
    if (Status status = api.initialize(initialize); !status) return status.error();
    pm::GetChipName name;
    if (Status status = api.chip_name(name); !status) return status.error();
    device.chip.name = name.chip == nullptr ? "" : name.chip;
    if (Status status = read_availability(api, context, device.chip); !status) return status.error();
    std::array<char, 256> text{};
    if (driver->call("cuDeviceGetName", text.data(), static_cast<int>(text.size()), 0) == 0) device.name = text.data();
    device.cc_major = driver->attribute(kMajor);
    device.cc_minor = driver->attribute(kMinor);
    device.sms = driver->attribute(kSms);
    std::size_t free = 0, total = 0;
    if (driver->call("cuMemGetInfo_v2", &free, &total) == 0) device.free_bytes = free, device.memory_bytes = total;
    return device;
}

}  // namespace gpuprof::counters
