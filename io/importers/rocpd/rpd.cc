// The database of rocmProfileData (.rpd), schema 2: operations of the GPU, calls, and which call submitted which operation.
// A call may submit hundreds: the kernels of a graph have the type Task.
#include <fmt/format.h>

#include <unordered_set>

#include "io/importers/amd_rows.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::rocpd {
namespace {

class RpdReader {
public:
    RpdReader(const Database& database, Batch& batch) : database_(database), batch_(batch), places_(batch) {}

    void read() {
        Scan texts(database_, "rocpd_string", batch_);
        strings_.read(texts, "string");
        read_links();
        read_calls();
        read_shapes();
        read_ops();
        read_monitor();
    }

private:
    struct LaunchShape {
        amd::Extent extents[3];
        std::optional<std::int64_t> shared, local;
    };

    void read_links() {
        Scan rows(database_, "rocpd_api_ops", batch_);
        auto call = rows.column("api_id"), op = rows.column("op_id");
        while (rows.next())
            if (auto of = rows.integer(op))
                if (auto by = rows.integer(call)) calls_of_.emplace(*of, *by);
    }

    // UserMarker is an annotation, whose text is the argument.
    void read_calls() {
        Scan rows(database_, "rocpd_api", batch_);
        auto id = rows.column("id"), start = rows.column("start"), end = rows.column("end"), pid = rows.column("pid"),
             tid = rows.column("tid"), name = rows.column("apiName_id"), text = rows.column("args_id");
        StringId hip = batch_.intern("hip");
        ApiCallTable& calls = batch_.tables.api_call;
        RangeTable& ranges = batch_.tables.range;
        while (rows.next()) {
            auto system = rows.integer(pid), thread = rows.integer(tid);
            StringId process = system ? places_.process(*system) : kNoString;
            StringId at = thread ? places_.thread(process, *thread) : kNoString;
            std::string_view called = strings_.text(rows.integer(name));
            if (called == "UserMarker") {
                auto row = span_row(ranges, rows, start, end, batch_);
                if (!row) continue;
                set_known(ranges.thread, *row, at);
                set_known(ranges.name, *row, strings_.id(rows.integer(text), batch_));
                continue;
            }
            auto row = span_row(calls, rows, start, end, batch_);
            if (!row) continue;
            auto number = rows.integer(id);
            if (called == "hipExtModuleLaunchKernel" || called == "hipHccModuleLaunchKernel")
                if (number) in_items_.insert(*number);
            set_known(calls.process, *row, process);
            if (process != kNoString && number) process_of_.emplace(*number, process);
            set_known(calls.thread, *row, at);
            calls.api.set(*row, hip);
            set_known(calls.name, *row, strings_.id(rows.integer(name), batch_));
            set_id(calls.correlation, *row, number);
        }
    }

    void read_shapes() {
        Scan rows(database_, "rocpd_kernelapi", batch_);
        auto call = rows.column("api_ptr_id"), shared = rows.column("groupSegmentSize"),
             local = rows.column("privateSegmentSize");
        const std::pair<Scan::Field, Scan::Field> dimensions[] = {{rows.column("gridX"), rows.column("workgroupX")},
                                                                  {rows.column("gridY"), rows.column("workgroupY")},
                                                                  {rows.column("gridZ"), rows.column("workgroupZ")}};
        while (rows.next()) {
            auto id = rows.integer(call);
            if (!id) continue;
            LaunchShape& shape = shapes_[*id];
            for (int i = 0; i < 3; ++i) {
                std::optional<std::int64_t> grid = rows.narrow(dimensions[i].first),
                                            block = rows.narrow(dimensions[i].second);
                if (grid && block && !in_items_.contains(*id)) *grid *= *block;
                shape.extents[i] = {grid, block};
            }
            shape.shared = rows.integer(shared);
            shape.local = rows.integer(local);
        }
        Scan copies(database_, "rocpd_copyapi", batch_);
        auto by = copies.column("api_ptr_id"), size = copies.column("size");
        while (copies.next())
            if (auto id = copies.integer(by))
                if (auto bytes = copies.integer(size); bytes && *bytes >= 0) sizes_[*id] = *bytes;
    }

    template <class Table>
    Row device_row(Table& table, Scan& rows, Row row, std::int64_t call) {
        DeviceWork work;
        if (auto gpu = rows.narrow(gpu_); gpu && *gpu >= 0) work.device = gpu;
        if (work.device) add_device(batch_, devices_, *work.device, "amd");
        work.stream = rows.integer(queue_);
        if (auto process = process_of_.find(call); process != process_of_.end()) work.process = process->second;
        work.correlation = call;
        set_work(table, row, work);
        return row;
    }

    void read_ops() {
        Scan rows(database_, "rocpd_op", batch_);
        auto id = rows.column("id"), start = rows.column("start"), end = rows.column("end"),
             description = rows.column("description_id"), type = rows.column("opType_id");
        gpu_ = rows.column("gpuId");
        queue_ = rows.column("queueId");
        Tables& tables = batch_.tables;
        while (rows.next()) {
            auto call = calls_of_.find(rows.integer(id).value_or(-1));
            std::int64_t by = call == calls_of_.end() ? 0 : call->second;
            std::string_view kind = strings_.text(rows.integer(type));
            if (kind == "KernelExecution" || kind == "Task") {
                if (auto row = span_row(tables.kernel, rows, start, end, batch_))
                    kernel(device_row(tables.kernel, rows, *row, by), by, rows.integer(description));
            } else if (kind.starts_with("Copy")) {
                if (auto row = span_row(tables.memcpy, rows, start, end, batch_))
                    copy(device_row(tables.memcpy, rows, *row, by), by, kind);
            } else if (kind.starts_with("FillBuffer")) {
                if (auto row = span_row(tables.memset, rows, start, end, batch_))
                    device_row(tables.memset, rows, *row, by);
            } else {
                batch_.lose_named(Loss::unknown_event, "", kind);
            }
        }
    }

    void kernel(Row row, std::int64_t call, std::optional<std::int64_t> name) {
        KernelTable& table = batch_.tables.kernel;
        set_known(table.name, row, strings_.id(name, batch_));
        auto shape = shapes_.find(call);
        if (shape == shapes_.end()) return;
        amd::put_shape(table, row, shape->second.extents);
        set_count(table.shared_bytes, row, shape->second.shared);
        set_count(table.local_bytes, row, shape->second.local);
    }

    void copy(Row row, std::int64_t call, std::string_view kind) {
        constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
            {"CopyHostToDevice", "HtoD"}, {"CopyDeviceToHost", "DtoH"}, {"CopyDeviceToDevice", "DtoD"}};
        MemcpyTable& table = batch_.tables.memcpy;
        for (auto [theirs, ours] : kKinds)
            if (kind == theirs) table.kind.set(row, batch_.intern(ours));
        if (auto bytes = sizes_.find(call); bytes != sizes_.end()) table.bytes.set(row, bytes->second);
    }

    void read_monitor() {
        constexpr std::pair<std::string_view, std::string_view> kClocks[] = {{"sclk", "clock.sm"},
                                                                             {"mclk", "clock.mem"}};
        Scan rows(database_, "rocpd_monitor", batch_);
        auto type = rows.column("deviceType"), device = rows.column("deviceId"), metric = rows.column("monitorType"),
             start = rows.column("start"), value = rows.column("value");
        SampleTable& table = batch_.tables.sample;
        while (rows.next()) {
            auto at = times_of(rows, start, start, batch_);
            std::string_view name = rows.text(metric), text = rows.text(value);
            auto number = number_in<double>(text);
            if (!at) continue;
            if (!number) {
                batch_.lose(Loss::bad_number, "rocpd_monitor");
                continue;
            }
            bool clock = false;
            for (auto [theirs, ours] : kClocks)
                if (name == theirs) name = ours, clock = true;
            Row row = table.add();
            table.time.set(row, at->first);
            if (auto gpu = rows.narrow(device); gpu && rows.text(type) == "gpu") table.device.set(row, *gpu);
            table.metric.set(row, batch_.intern(name));
            if (clock) table.unit.set(row, batch_.intern("MHz"));
            table.value.set(row, *number);
        }
    }

    const Database& database_;
    Batch& batch_;
    HostPlaces places_;
    Texts strings_;
    std::unordered_map<std::int64_t, std::int64_t> calls_of_, sizes_;  // by op; by call
    std::unordered_map<std::int64_t, LaunchShape> shapes_;             // by call
    std::unordered_map<std::int64_t, StringId> process_of_;            // by call
    std::unordered_set<std::int64_t> in_items_;                        // calls whose grid is in work-items
    std::set<std::int32_t> devices_;
    Scan::Field gpu_{-1}, queue_{-1};
};

}  // namespace

void read_rpd(const Database& database, Batch& batch) { RpdReader(database, batch).read(); }

}  // namespace gpuprof::importers::rocpd
