#include "collect/counters/driver.h"

#include <array>
#include <string>

namespace gpuprof::counters {

Result<Driver> Driver::open() {
    const std::array<std::string, 2> names{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    Result<Library> library = Library::open(names);
    if (!library.ok())
        return Error{ExitCode::empty,
                     "cannot load libcuda.so.1; install the NVIDIA driver, or start the container with --gpus all"};
    return Driver(std::move(*library));
}

Result<Driver::FirstDevice> Driver::first_device() const {
    FirstDevice device;
    if (Status status = need("cuInit", 0u); !status) return status.error();
    if (Status status = need("cuDeviceGetCount", &device.count); !status) return status.error();
    if (device.count == 0) return Error{ExitCode::empty, "the driver reports no GPU to this process"};
    if (Status status = need("cuDevicePrimaryCtxRetain", &device.context, 0); !status) return status.error();
    if (Status status = need("cuCtxSetCurrent", device.context); !status) return status.error();
    return device;
}

}  // namespace gpuprof::counters
