#include "collect/counters/counter_device.h"

#include <array>

#include "collect/counters/driver.h"

namespace gpuprof::counters {
namespace {

// Source: cuda.h, CUdevice_attribute.
constexpr int kSms = 16, kMajor = 75, kMinor = 76;

std::uint32_t attribute(const Driver& driver, int which) {
    int value = 0;
    return driver.call("cuDeviceGetAttribute", &value, which, 0) == 0 ? static_cast<std::uint32_t>(value) : 0;
}

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
    Result<Driver::FirstDevice> first = driver->first_device();
    if (!first.ok()) return first.error();
    Device device;
    device.count = first->count;
    pm::ProfilerInitialize initialize;
    if (Status status = api.initialize(initialize); !status) return status.error();
    pm::GetChipName name;
    if (Status status = api.chip_name(name); !status) return status.error();
    device.chip.name = name.chip == nullptr ? "" : name.chip;
    if (Status status = read_availability(api, first->context, device.chip); !status) return status.error();
    std::array<char, 256> text{};
    if (driver->call("cuDeviceGetName", text.data(), static_cast<int>(text.size()), 0) == 0) device.name = text.data();
    device.cc_major = attribute(*driver, kMajor);
    device.cc_minor = attribute(*driver, kMinor);
    device.sms = attribute(*driver, kSms);
    std::size_t free = 0, total = 0;
    if (driver->call("cuMemGetInfo_v2", &free, &total) == 0) device.free_bytes = free, device.memory_bytes = total;
    return device;
}

}  // namespace gpuprof::counters
