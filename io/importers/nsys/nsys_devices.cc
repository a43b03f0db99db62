// Part of the nsys importer: the GPUs. Since 2022 they are rows of TARGET_INFO_GPU with a number for the whole machine,
// and TARGET_INFO_CUDA_DEVICE says which of them a process calls its device n. Older exports have TARGET_INFO_CUDA_GPU
// instead: each process lists its own devices, so a GPU is known by its place on the bus.
#include <fmt/format.h>

#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::nsys {
namespace {

// The columns of one of the two tables, in the order of GpuScan's fields.
struct GpuColumnNames {
    const char *sms, *major, *minor, *warp_size, *max_threads, *registers_per_block, *registers_per_sm, *memory,
        *shared_per_block, *shared_optin, *shared_per_sm, *warps_per_sm;
};
constexpr GpuColumnNames kPresent = {"smCount",
                                     "computeMajor",
                                     "computeMinor",
                                     "threadsPerWarp",
                                     "maxThreadsPerBlock",
                                     "maxRegistersPerBlock",
                                     "maxRegistersPerSm",
                                     "totalMemory",
                                     "maxShmemPerBlock",
                                     "maxShmemPerBlockOptin",
                                     "maxShmemPerSm",
                                     "maxWarpsPerSm"};
constexpr GpuColumnNames kOlder = {"numMultiprocessors",
                                   "computeCapabilityMajor",
                                   "computeCapabilityMinor",
                                   "numThreadsPerWarp",
                                   "maxThreadsPerBlock",
                                   "maxRegistersPerBlock",
                                   "maxRegistersPerMultiprocessor",
                                   "globalMemorySize",
                                   "maxSharedMemoryPerBlock",
                                   "",
                                   "maxSharedMemoryPerMultiprocessor",
                                   "maxWarpsPerMultiprocessor"};

// One pass over such a table; put() writes the current row's properties to a row of `device`.
class GpuScan {
public:
    GpuScan(Scan& rows, const GpuColumnNames& names, DeviceTable& table, Batch& batch)
        : rows_(rows),
          table_(table),
          batch_(batch),
          narrow_{{rows.column(names.sms), &table.sms},
                  {rows.column(names.major), &table.cc_major},
                  {rows.column(names.minor), &table.cc_minor},
                  {rows.column(names.warp_size), &table.warp_size},
                  {rows.column(names.max_threads), &table.max_threads_per_block},
                  {rows.column(names.registers_per_block), &table.registers_per_block},
                  {rows.column(names.registers_per_sm), &table.registers_per_sm}},
          wide_{{rows.column(names.shared_per_block), &table.shared_bytes_per_block},
                {rows.column(names.shared_optin), &table.shared_bytes_per_block_optin},
                {rows.column(names.shared_per_sm), &table.shared_bytes_per_sm}},
          memory_(rows.column(names.memory)),
          name_(rows.column("name")),
          uuid_(rows.column("uuid")),
          warps_(rows.column(names.warps_per_sm)),
          warp_(rows.column(names.warp_size)) {}

    void put(Row row) {
        for (auto [field, column] : narrow_)
            if (auto value = rows_.narrow(field)) column->set(row, *value);
        for (auto [field, column] : wide_)
            if (auto value = rows_.integer(field)) column->set(row, *value);
        if (auto value = rows_.integer(memory_)) table_.memory_bytes.set(row, memory_bytes(*value));
        table_.vendor.set(row, batch_.intern("nvidia"));
        set_text(batch_, table_.name, row, rows_.text(name_));
        if (auto text = rows_.text(uuid_); !text.empty())
            table_.uuid.set(row,
                            batch_.intern(text.starts_with("GPU-") ? std::string(text) : fmt::format("GPU-{}", text)));
        auto most = rows_.narrow(warps_), size = rows_.narrow(warp_);
        if (most && size && *most > 0 && *most < 1024 && *size > 0 && *size < 1024)
            table_.max_threads_per_sm.set(row, *most * *size);
    }

private:
    // The older table has MiB. No GPU has less than 16 MiB, or 16 TiB.
    static std::int64_t memory_bytes(std::int64_t size) {
        constexpr std::int64_t kLeastBytes = 1 << 24;
        return size > 0 && size < kLeastBytes ? size << 20 : size;
    }

    Scan& rows_;
    DeviceTable& table_;
    Batch& batch_;
    std::pair<Scan::Field, Column<std::int32_t>*> narrow_[7];
    std::pair<Scan::Field, Column<std::int64_t>*> wide_[3];
    Scan::Field memory_, name_, uuid_, warps_, warp_;
};

}  // namespace

void Reader::read_devices() {
    Scan ordinals = scan("TARGET_INFO_CUDA_DEVICE");
    auto gpu = ordinals.column("gpuId"), cuda = ordinals.column("cudaId"), pid = ordinals.column("pid");
    while (ordinals.next()) {
        auto id = ordinals.narrow(gpu), ordinal = ordinals.narrow(cuda);
        auto process = ordinals.integer(pid);
        if (id && ordinal && process) gpus_[{*process, *ordinal}] = *id;
    }
    Scan rows = scan("TARGET_INFO_GPU");
    DeviceTable& table = batch_.tables.device;
    GpuScan properties(rows, kPresent, table, batch_);
    auto id = rows.column("id");
    while (rows.next()) {
        Row row = table.add();
        set_known(table.device, row, rows.narrow(id));
        properties.put(row);
    }
    if (table.rows == 0) read_older_devices();
}

// A GPU keeps the number by which processes call it. If one number means several GPUs, they are numbered by their places.
void Reader::read_older_devices() {
    constexpr const char* kTable = "TARGET_INFO_CUDA_GPU";
    std::map<std::int32_t, std::set<std::string>> places_of;  // by a process's number
    std::map<std::string, std::int32_t> by_place;
    std::map<Device, std::string> given;
    {
        Scan rows = scan(kTable);
        auto ordinal = rows.column("deviceId"), pid = rows.column("pid"), bus = rows.column("pciBusId");
        while (rows.next()) {
            auto number = rows.narrow(ordinal);
            if (!number) continue;
            std::string place(rows.text(bus));
            places_of[*number].insert(place);
            by_place[place] = 0;
            given[{rows.integer(pid).value_or(-1), *number}] = std::move(place);
        }
    }
    bool agreed = true;
    for (const auto& [number, places] : places_of) agreed = agreed && places.size() == 1;
    std::int32_t next = 0;
    for (auto& [place, number] : by_place) number = next++;
    for (const auto& [device, place] : given)
        gpus_[device] = agreed ? static_cast<std::int32_t>(device.second) : by_place[place];

    Scan rows = scan(kTable);
    DeviceTable& table = batch_.tables.device;
    GpuScan properties(rows, kOlder, table, batch_);
    auto ordinal = rows.column("deviceId"), bus = rows.column("pciBusId");
    std::set<std::int32_t> known;
    while (rows.next()) {
        auto called = rows.narrow(ordinal);
        if (!called) continue;
        std::int32_t number = agreed ? *called : by_place[std::string(rows.text(bus))];
        if (!known.insert(number).second) continue;
        Row row = table.add();
        table.device.set(row, number);
        properties.put(row);
    }
}

}  // namespace gpuprof::importers::nsys
