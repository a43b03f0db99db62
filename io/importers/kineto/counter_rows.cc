// RowWriter's counters: samples of Cuspy, PyTorch's other profiler, whose value has an empty key; and the events of Kineto's range profiler (CUPTI_PROFILER_METRICS), one per kernel or for everything
// at once, with a counter per argument. Kineto spreads these events evenly over the recording, so their times say nothing.
// They are in the order of the launches.
// Source: github.com/pytorch/kineto, libkineto/src/CuptiRangeProfiler.cpp, CuptiRangeProfilerApi.cpp.
#include <charconv>
#include <cmath>

#include "io/importers/cuspy_counter.h"
#include "io/importers/device_names.h"
#include "io/importers/kineto/members.h"
#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {
namespace {

// More kernels ran than Kineto kept names for.
constexpr std::string_view kNameMissing = "__missing__";
// Everything between the start and the end of profiling, measured together.
constexpr std::string_view kWholeProfile = "__profile__";

// The arguments that are numbers.
template <class Visit>
void each_number(const Event& event, Visit visit) {
    const char* p = event.args.data();
    if (p == nullptr) return;
    const char* end = p + event.args.size();
    bool too_deep = false;
    scan_members(p, end, [&](const RawValue& key) {
        RawValue value;
        if (Scan scan = scan_value(p, end, value, too_deep); scan != Scan::ok) return scan;
        double number = 0;
        auto [stop, error] = std::from_chars(value.begin, value.end, number);
        if (!value.is_string() && error == std::errc() && stop == value.end) visit(key.text(), number);
        return Scan::ok;
    });
}

bool names_counter(std::string_view key) { return key.find("__") != std::string_view::npos; }

}  // namespace

void RowWriter::write_profiler_range(const Event& event) {
    ProfiledKernelTable& table = block_.rows.tables.profiled_kernel;
    KernelCounterTable& counters = block_.rows.tables.kernel_counter;
    Row row = table.add();
    auto launch = static_cast<std::int64_t>(row);  // of this block; Assembly numbers those of the file
    table.launch.set(row, launch);
    std::string_view name = event.text(Field::name);
    bool whole = name == kWholeProfile;
    if (!whole && name != kNameMissing) put_text(table.name, row, event, Field::name, block_.rows);
    table.kind.set(row, intern(whole ? "range" : "kernel"));
    if (whole) table.range.set(row, intern("the whole recording"));
    table.tool.set(row, intern("torch.profiler"));
    put_device(table.device, row, event);
    each_number(event, [&](std::string_view key, double number) {
        // Kineto writes nan where CUPTI has no value.
        if (!names_counter(key) || number != number) return;
        Row counter = counters.add();
        counters.launch.set(counter, launch);
        counters.metric.set(counter, intern(key));
        counters.value.set(counter, number);
    });
}

// The process of a counter is a GPU, "GPU 0"; a number may be that of a process. Counters of others have names for values.
void RowWriter::write_counter(const Event& event) {
    std::optional<double> value;
    each_number(event, [&](std::string_view key, double number) {
        if (key.empty() && std::isfinite(number)) value = number;
    });
    auto [name, unit] = cuspy_counter(event.text(Field::name));
    std::int64_t time = 0;
    if (!value || name.empty()) return write_foreign(event);
    if (!read_time(event, Field::ts, time)) return;
    ++block_.events;
    SampleTable& table = block_.rows.tables.sample;
    Row row = table.add();
    table.time.set(row, time);
    std::string_view of = event.text(Field::pid);
    if (of.starts_with("GPU"))
        if (auto device = device_ordinal(of)) table.device.set(row, *device);
    table.metric.set(row, intern(name));
    if (!unit.empty()) table.unit.set(row, intern(unit));
    table.value.set(row, *value);
}

}  // namespace gpuprof::importers::kineto
