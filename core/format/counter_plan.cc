#include "core/format/counter_plan.h"

#include <zlib.h>

#include <algorithm>

#include "core/base/fnv.h"
#include "core/format/bytes.h"

namespace gpuprof::inline format {
namespace {

constexpr std::string_view kMagic{"GPUCTR1\0", 8};

std::uint32_t crc_of(std::string_view bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

// Both directions visit the same fields.
class Writer {
public:
    std::string out;
    template <class... Values>
    void operator()(const Values&... values) requires(sizeof...(Values) > 1) {
        ((*this)(values), ...);
    }
    void operator()(std::uint32_t value) { put_u32(out, value); }
    void operator()(std::uint64_t value) { put_u64(out, value); }
    void operator()(CounterScope value) { put_u32(out, static_cast<std::uint32_t>(value)); }
    void operator()(CacheMode value) { put_u32(out, static_cast<std::uint32_t>(value)); }
    void operator()(std::string_view text) {
        put_u32(out, static_cast<std::uint32_t>(text.size()));
        out.append(text);
    }
    void operator()(const PlannedMetric& metric) {
        put_u32(out, static_cast<std::uint32_t>(metric.name.size() + 1));
        out.append(metric.name).push_back('\0');
        (*this)(metric.unit);
    }
    template <class Value>
    void operator()(const std::vector<Value>& values) {
        (*this)(static_cast<std::uint32_t>(values.size()));
        for (const Value& value : values) (*this)(value);
    }
    void operator()(const PlannedKernel& kernel) {
        (*this)(kernel.name);
        for (int i = 0; i < 3; ++i) (*this)(kernel.grid[i], kernel.block[i]);
        (*this)(kernel.typical_ns, kernel.registers, kernel.shared_bytes);
    }
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : cursor(bytes) {}
    ByteCursor cursor;
    bool sound = true;

    template <class... Values>
    void operator()(Values&... values) requires(sizeof...(Values) > 1) {
        ((*this)(values), ...);
    }
    void operator()(std::uint32_t& value) { value = cursor.u32(); }
    void operator()(std::uint64_t& value) { value = cursor.u64(); }
    void operator()(CounterScope& value) { value = static_cast<CounterScope>(cursor.u32()); }
    void operator()(CacheMode& value) { value = static_cast<CacheMode>(cursor.u32()); }
    void operator()(std::string_view& text) { text = cursor.take(cursor.u32()); }
    void operator()(PlannedMetric& metric) {
        (*this)(metric.name);
        sound = sound && !metric.name.empty() && metric.name.back() == '\0';
        if (!metric.name.empty()) metric.name.remove_suffix(1);
        (*this)(metric.unit);
    }
    template <class Value>
    void operator()(std::vector<Value>& values) {
        std::uint32_t count = cursor.u32();
        sound = sound && count <= cursor.left();  // each takes a byte at least
        for (std::uint32_t i = 0; i < count && sound && cursor.ok(); ++i) (*this)(values.emplace_back());
    }
    void operator()(PlannedKernel& kernel) {
        (*this)(kernel.name);
        for (int i = 0; i < 3; ++i) (*this)(kernel.grid[i], kernel.block[i]);
        (*this)(kernel.typical_ns, kernel.registers, kernel.shared_bytes);
    }
};

template <class Plan, class Visit>
void visit_plan(Plan& plan, Visit& visit) {
    visit(plan.scope, plan.cache, plan.launches, plan.skip);
    visit(plan.budget_ns, plan.hang_ns, plan.passes);
    visit(plan.chip, plan.range, plan.pattern, plan.availability, plan.config);
    visit(plan.metrics, plan.kernels);
    visit(plan.device, plan.cupti, plan.clock, plan.cupti_version);
    visit(plan.cc_major, plan.cc_minor, plan.sms);
}

}  // namespace

std::string encode(const CounterPlan& plan) {
    Writer writer;
    visit_plan(plan, writer);
    std::string file(kMagic);
    put_u32(file, crc_of(writer.out));
    return file + writer.out;
}

std::optional<CounterPlan> decode_counter_plan(std::string_view bytes) {
    constexpr std::size_t kHead = kMagic.size() + sizeof(std::uint32_t);
    if (bytes.size() < kHead || bytes.substr(0, kMagic.size()) != kMagic) return std::nullopt;
    std::string_view rest = bytes.substr(kHead);
    if (load_u32(bytes.data() + kMagic.size()) != crc_of(rest)) return std::nullopt;
    Reader reader(rest);
    CounterPlan plan;
    visit_plan(plan, reader);
    bool known = plan.scope <= CounterScope::instructions && plan.cache <= CacheMode::flush;
    if (!reader.sound || !reader.cursor.ok() || reader.cursor.left() > 0 || !known) return std::nullopt;
    return plan;
}

bool is_device_collective(std::string_view kernel) {
    auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
    for (std::string_view part :
         {"nccl", "nvshmem", "rccl", "deep_ep", "symm_mem", "one_shot_all_reduce", "two_shot_all_reduce", "multimem_"})
        if (std::search(kernel.begin(), kernel.end(), part.begin(), part.end(), same) != kernel.end()) return true;
    return false;
}

std::uint64_t image_hash(std::string_view image) { return fnv1a(image); }

}  // namespace gpuprof::format
