#include "io/importers/kineto/row_writer.h"

#include <fmt/format.h>

#include "io/importers/kineto/key_table.h"
#include "io/importers/kineto/kineto_number.h"

namespace gpuprof::inline importers::kineto {
namespace {

enum class Category {
    op,
    range,
    runtime,
    driver,
    hip,
    xpu,
    kernel,
    memcpy,
    memset,
    device_range,
    profiler_range,
    paddle_step,
    python,
    overhead,
    sync,
    span,
    launch_flow,
    autograd_flow,
    other
};

// The current names; those of the first Kineto releases (PyTorch 1.8); Proton's scopes; and Paddle's, in both of its
// spellings.
constexpr KeyName<Category> kCategoryNames[] = {
    {"cpu_op", Category::op},
    {"user_annotation", Category::range},
    {"cuda_runtime", Category::runtime},
    {"cuda_driver", Category::driver},
    {"hip_runtime", Category::hip},
    {"hip_driver", Category::hip},
    {"xpu_runtime", Category::xpu},
    {"xpu_driver", Category::xpu},
    {"kernel", Category::kernel},
    {"gpu_memcpy", Category::memcpy},
    {"gpu_memset", Category::memset},
    {"gpu_user_annotation", Category::device_range},
    {"cuda_profiler_range", Category::profiler_range},
    {"python_function", Category::python},
    {"overhead", Category::overhead},
    {"cuda_sync", Category::sync},
    {"Trace", Category::span},
    {"scope", Category::range},
    {"ac2g", Category::launch_flow},
    {"async_cpu_to_gpu", Category::launch_flow},
    {"fwdbwd", Category::autograd_flow},
    {"forward_backward", Category::autograd_flow},
    {"Operator", Category::op},
    {"Runtime", Category::runtime},
    {"Kernel", Category::kernel},
    {"Memcpy", Category::memcpy},
    {"Memset", Category::memset},
    {"ProfileStep", Category::paddle_step},
    {"profile_step", Category::paddle_step},
    {"CudaRuntime", Category::runtime},
    {"memcpy", Category::memcpy},
    {"memset", Category::memset},
    {"operator", Category::op},
    {"OperatorInner", Category::op},
    {"operator_inner", Category::op},
    {"PythonOp", Category::op},
    {"python_op", Category::op},
    {"DygraphKernelLaunch", Category::op},
    {"StaticKernelLaunch", Category::op},
    {"UserDefined", Category::range},
    {"user_defined", Category::range},
    {"PythonUserDefined", Category::range},
    {"python_user_defined", Category::range},
    {"Dataloader", Category::range},
    {"dataloader", Category::range},
    {"Forward", Category::range},
    {"forward", Category::range},
    {"Backward", Category::range},
    {"backward", Category::range},
    {"Optimization", Category::range},
    {"optimization", Category::range},
    {"Communication", Category::range},
    {"communication", Category::range},
};
constexpr KeyTable kCategories(kCategoryNames);

// The kernel by which Proton reads a metric of the program.
constexpr std::string_view kProtonMetric = "<metric>";

// Paddle ends names with their duration, "matmul[12.345 us]", and calls its steps ProfileStep#N. The result is the name
// without that, as PyTorch would write it; `scratch` may hold it.
std::string_view paddle_name(std::string_view name, std::string& scratch) {
    std::size_t open = name.rfind('[');
    if (open != name.npos && (name.ends_with(" ms]") || name.ends_with(" us]")) &&
        name.find_first_not_of("0123456789.", open + 1) == name.size() - 4)
        name = name.substr(0, open);
    constexpr std::string_view kStep = "ProfileStep#";
    if (!name.starts_with(kStep)) return name;
    scratch.assign("ProfilerStep#").append(name.substr(kStep.size()));
    return scratch;
}

// Backends name their categories alike: mtia_runtime, privateuse1_driver, hpu_op. MTIA's device work has one category.
Category category_of(const Event& event) {
    std::string_view category = event.text(Field::cat);
    if (Category known = kCategories.find(category, Category::other); known != Category::other) return known;
    if (category.ends_with("_runtime")) return Category::runtime;
    if (category.ends_with("_driver")) return Category::driver;
    if (category.ends_with("_op")) return Category::op;
    if (category != "mtia_ccp_events") return Category::other;
    std::string_view name = event.text(Field::name);
    if (name.find("pe_exe") != name.npos) return Category::kernel;
    return name.find("dma_request") != name.npos ? Category::memcpy : Category::other;
}

}  // namespace

void RowWriter::write(const Event& event, std::uint64_t offset) {
    offset_ = offset;
    if (event.too_deep) lose(Loss::too_deep, offset);
    std::string_view phase = event.text(Field::ph);
    switch (phase.size() == 1 ? phase[0] : '\0') {
        case 'X': return write_complete(event);
        case 's':
        case 'f':
            ++block_.events;
            ++block_.labels;
            if (category_of(event) == Category::autograd_flow) write_flow(event, phase[0] == 's');
            return;
        case 'i':
        case 'I':
            if (event.text(Field::name) == "[memory]" && event.has(Field::memory_bytes))
                return write_memory_event(event);
            // The two marks that Kineto puts around every recording.
            if (event.text(Field::name) == "Record Window End" ||
                event.text(Field::name).starts_with("Iteration Start"))
                return;
            return write_foreign(event);
        case 'M': return write_name(event);
        case 'C': return write_counter(event);
        case '\0':
            if (event.present == decltype(event.present){}) return;  // Paddle ends its list with an empty object
            return lose(Loss::missing_field, offset);
        default: return write_foreign(event);
    }
}

void RowWriter::write_complete(const Event& event) {
    Category category = category_of(event);
    if (category == Category::other || category == Category::launch_flow || category == Category::autograd_flow)
        return write_foreign(event);
    if (event.has(Field::end_text) || category == Category::paddle_step) {
        std::string scratch;
        std::string_view name = paddle_name(event.text(Field::name), scratch);
        if (name.data() != event.text(Field::name).data() || name.size() != event.text(Field::name).size()) {
            Event plain = event;
            plain.put(Field::name, {name.data(), name.data() + name.size(), event[Field::name].kind});
            return write_complete(plain);
        }
    }
    Span span;
    if (!event.has(Field::name)) return lose(Loss::missing_field, offset_);
    if (!read_span(event, span)) return;
    ++block_.events;
    switch (category) {
        case Category::op: return write_op(event, span);
        case Category::range:
        case Category::paddle_step: return write_range(event, span);
        case Category::runtime:
            return write_call(event, span, event.text(Field::name).starts_with("hip") ? "hip" : "runtime");
        case Category::driver: return write_call(event, span, "driver");
        case Category::hip: return write_call(event, span, "hip");
        case Category::xpu: return write_call(event, span, "xpu");
        case Category::kernel:
            if (event.text(Field::name) != kProtonMetric) return write_kernel(event, span);
            block_.rows.lose_named(Loss::recorder_work, "", kProtonMetric);
            return write_overhead(event, span);
        case Category::memcpy: return write_memcpy(event, span);
        case Category::memset: return write_memset(event, span);
        case Category::device_range: return write_device_range(event, span);
        case Category::profiler_range: return write_profiler_range(event);
        case Category::python: return write_python_call(event, span);
        case Category::overhead: return write_overhead(event, span);
        case Category::sync: return write_sync(event, span);
        default: block_.profiler_span = {span.start, span.dur}; return;
    }
}

void RowWriter::write_foreign(const Event& event) {
    ++block_.foreign;
    bool first = block_.rows.losses[static_cast<std::size_t>(Loss::unknown_event)].count == 0;
    std::string_view category = event.text(Field::cat);
    std::string name = category.empty() ? fmt::format("phase {}", event.text(Field::ph)) : std::string(category);
    block_.rows.lose_named(Loss::unknown_event, first ? place(offset_) : std::string(), name);
}

std::string RowWriter::place(std::uint64_t offset) const { return fmt::format("{}: byte {}", file_, offset); }

void RowWriter::lose(Loss loss, std::uint64_t offset) {
    bool first = block_.rows.losses[static_cast<std::size_t>(loss)].count == 0;
    block_.rows.lose(loss, first ? place(offset) : std::string());
}

bool RowWriter::read_time(const Event& event, Field field, std::int64_t& ns) {
    switch (event.has(field) ? parse_padded_microseconds(event[field].text(), ns) : Number::absent) {
        case Number::ok:
            if (ns > -kMaxTime && ns < kMaxTime) return true;
            [[fallthrough]];
        case Number::out_of_range: lose(Loss::time_out_of_range, offset_); return false;
        case Number::bad: lose(Loss::bad_number, offset_); break;
        case Number::absent: break;
    }
    lose(Loss::missing_field, offset_);
    return false;
}

bool RowWriter::read_span(const Event& event, Span& span) {
    if (!read_time(event, Field::ts, span.start) || !read_time(event, Field::dur, span.dur)) return false;
    if (span.dur < 0) {
        lose(Loss::negative_duration, offset_);
        span.dur = 0;
    }
    return true;
}

std::optional<std::int64_t> RowWriter::integer(const Event& event, Field field, bool bits) {
    if (!event.has(field)) return std::nullopt;
    std::int64_t value = 0;
    if (parse_padded_digits(event[field].text(), value)) return value;
    switch (parse_integer(event[field].text(), value, bits)) {
        case Number::ok: return value;
        case Number::absent: return std::nullopt;
        default: lose(Loss::bad_number, offset_); return std::nullopt;
    }
}

std::string_view RowWriter::decoded(const Event& event, Field field) {
    bool clean = true;
    std::string_view text = decode_string(event[field], scratch_, clean);
    if (!clean) lose(Loss::bad_string, offset_);
    return text;
}

void RowWriter::put_text(Column<StringId>& column, Row row, const Event& event, Field field, Batch& batch) {
    if (column.is_skipped() || !event.has(field) || (!event[field].is_string() && event[field].text() == "null"))
        return;
    std::string_view text = decoded(event, field);
    column.set(row, &batch == &block_.rows ? intern(text) : batch.intern(text));
}

// A cache in front of the pool, keyed by a sample of the bytes: it avoids hashing names of a thousand bytes.
StringId RowWriter::intern(std::string_view text) {
    if (text.size() < 8) return block_.rows.intern(text);
    std::uint64_t first, middle, last;
    std::memcpy(&first, text.data(), 8);
    std::memcpy(&middle, text.data() + (text.size() - 8) / 2, 8);
    std::memcpy(&last, text.data() + text.size() - 8, 8);
    std::uint64_t sample = (first ^ std::rotl(middle, 21) ^ std::rotl(last, 42) ^ text.size()) * 0x9E3779B97F4A7C15u;
    CachedName& cached = names_[sample >> 55];
    if (cached.size != text.size() || std::memcmp(cached.data, text.data(), text.size()) != 0) {
        StringId id = block_.rows.intern(text);
        cached = {block_.rows.strings[id].data(), text.size(), id};
    }
    return cached.id;
}

}  // namespace gpuprof::importers::kineto
