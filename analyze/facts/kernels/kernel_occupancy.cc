#include "analyze/facts/kernels/kernel_occupancy.h"

#include <tuple>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

using Shape = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int64_t>;

}  // namespace

std::map<std::int32_t, DeviceLimits> limits_by_device(const Trace& trace) {
    const DeviceTable& table = trace.tables().device;
    std::map<std::int32_t, DeviceLimits> result;
    for (Row row = 0; row < table.rows; ++row) {
        DeviceLimits limits;
        limits.cc_major = table.cc_major.value_or(row, 0);
        limits.cc_minor = table.cc_minor.value_or(row, 0);
        limits.name = trace.text(table.name.value_or(row, kNoString));
        limits.warp_size = table.warp_size.get(row);
        limits.max_threads_per_sm = table.max_threads_per_sm.get(row);
        limits.max_threads_per_block = table.max_threads_per_block.get(row);
        limits.registers_per_sm = table.registers_per_sm.get(row);
        limits.registers_per_block = table.registers_per_block.get(row);
        limits.shared_bytes_per_sm = table.shared_bytes_per_sm.get(row);
        limits.shared_bytes_per_block_optin = table.shared_bytes_per_block_optin.get(row);
        limits.num_sms = table.sms.get(row);
        result.try_emplace(table.device.value_or(row, -1), limits);
    }
    return result;
}

LaunchOccupancy LaunchOccupancy::make(const Facts& facts) {
    const KernelTable& kernels = facts.trace().kernel();
    LaunchOccupancy result;
    result.shapes_.emplace_back();
    if (kernels.registers.none_present() || kernels.block_x.none_present()) return result;
    std::map<std::int32_t, DeviceLimits> limits = limits_by_device(facts.trace());
    std::map<Shape, std::uint32_t> known;
    std::vector<std::pair<Shape, std::uint32_t>> latest(facts.trace().strings().size() +
                                                        1);  // by name; most shapes repeat
    result.shape_.resize(kernels.rows);
    for (Row row = 0; row < kernels.rows; ++row) {
        result.shape_[row] = 0;
        if (!kernels.block_x.has(row) || !kernels.block_y.has(row) || !kernels.block_z.has(row)) continue;
        Shape shape{kernels.device.value_or(row, -1),
                    kernels.block_x[row],
                    kernels.block_y[row],
                    kernels.block_z[row],
                    kernels.registers.value_or(row, -1),
                    kernels.shared_bytes.value_or(row, -1)};
        StringId name = kernels.name.value_or(row, kNoString);
        auto& last = latest[name == kNoString ? latest.size() - 1 : index_of(name)];
        if (last.second == 0 || last.first != shape) {
            auto [found, added] = known.try_emplace(shape, static_cast<std::uint32_t>(result.shapes_.size()));
            if (added) {
                auto device = limits.find(std::get<0>(shape));
                LaunchShape launch{kernels.block_x[row], kernels.block_y[row], kernels.block_z[row],
                                   kernels.registers.get(row), kernels.shared_bytes.get(row)};
                result.shapes_.push_back(device == limits.end() ? std::nullopt
                                                                : theoretical_occupancy(launch, device->second));
            }
            last = {shape, found->second};
        }
        result.shape_[row] = last.second;
    }
    return result;
}

}  // namespace gpuprof::facts
