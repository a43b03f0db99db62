// RowWriter's counters: the events of Kineto's range profiler (CUPTI_PROFILER_METRICS), one per kernel or for everything
// at once, with a counter per argument. Kineto spreads these events evenly over the recording, so their times say nothing.
// They are in the order of the launches.
// Source: github.com/pytorch/kineto, libkineto/src/CuptiRangeProfiler.cpp, CuptiRangeProfilerApi.cpp.
#include <charconv>

#include "io/importers/kineto/members.h"
#include "io/importers/kineto/row_writer.h"

namespace gpuprof::inline importers::kineto {
namespace {

// More kernels ran than Kineto kept names for.
constexpr std::string_view kNameMissing = "__missing__";
// Everything between the start and the end of profiling, measured together.
constexpr std::string_view kWholeProfile = "__profile__";

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
    const char* p = event.args.data();
    if (p == nullptr) return;
    const char* end = p + event.args.size();
    bool too_deep = false;
    scan_members(p, end, [&](const RawValue& key) {
        RawValue value;
        if (Scan scan = scan_value(p, end, value, too_deep); scan != Scan::ok) return scan;
        if (!names_counter(key.text())) return Scan::ok;
        double number = 0;
        auto [stop, error] = std::from_chars(value.begin, value.end, number);
        // Kineto writes nan where CUPTI has no value.
        if (value.is_string() || error != std::errc() || stop != value.end || number != number) return Scan::ok;
        Row counter = counters.add();
        counters.launch.set(counter, launch);
        counters.metric.set(counter, intern(key.text()));
        counters.value.set(counter, number);
        return Scan::ok;
    });
}

}  // namespace gpuprof::importers::kineto
