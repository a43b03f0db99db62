#include "collect/counters/sample_rows.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "collect/pm/pm_errors.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/format/capture_part.h"
#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"
#include "io/cubin/cubin.h"
#include "io/cubin/line_table.h"

namespace gpuprof::counters {
namespace {

std::string_view name(Loss loss) { return spec_of(loss).name; }
std::string count_of(std::uint64_t count) { return readable_count(static_cast<std::int64_t>(count)); }

// A cubin, its line table, and why it has none.
class Module {
public:
    explicit Module(const SpooledCubin& cubin) : hash_(cubin.hash) {
        if (cubin.image.empty()) {
            why_ = "their module was too large to keep, or damaged on disk";
            return;
        }
        Result<cubin::Cubin> read = cubin::read_cubin(cubin.image);
        if (!read.ok()) {
            why_ = fmt::format("their module cannot be read: {}", read.error().message);
            return;
        }
        cubin_ = std::make_unique<cubin::Cubin>(std::move(*read));
        Result<cubin::LineTable> lines = cubin::LineTable::read(*cubin_);
        if (lines.ok())
            lines_ = std::move(*lines);
        else
            why_ = fmt::format("its line table cannot be read: {}", lines.error().message);
    }

    std::uint64_t hash() const { return hash_; }
    bool has(const std::string& function) const { return cubin_ != nullptr && cubin_->function(function) != nullptr; }

    // The user's line if code was inlined from a header of the toolkit; absent with the reason.
    std::optional<cubin::SourceLine> line(const std::string& symbol, std::uint64_t offset, std::string& why) const {
        const cubin::Function* function = cubin_ == nullptr ? nullptr : cubin_->function(symbol);
        why = why_;
        if (function == nullptr || !lines_) {
            if (why.empty()) why = "their module does not contain the function";
            return std::nullopt;
        }
        if (std::optional<cubin::SourcePlace> place = lines_->place(*function, offset))
            return place->user ? *place->user : place->innermost;
        why = lines_->covers(*function) ? "the line table omits the instruction"
                                        : "it was compiled without line information; compile with -lineinfo";
        return std::nullopt;
    }

private:
    std::uint64_t hash_;
    std::unique_ptr<cubin::Cubin> cubin_;
    std::optional<cubin::LineTable> lines_;
    std::string why_;
};

class Writer {
public:
    Writer(const SpooledSamples& spooled, const SampleRequest& request, CapturePart& part)
        : spooled_(spooled), request_(request), part_(part) {
        for (const SpooledCubin& cubin : spooled.cubins) modules_.emplace(cubin.crc, cubin);
    }

    SampleReport write() {
        for (const auto& [at, counts] : spooled_.counts) add_samples(at, counts);
        for (const auto& [at, values] : spooled_.counters) add_counters(at, values);
        for (const SampledProcess& process : spooled_.processes)
            for (const auto& [device, totals] : process.devices) add_losses(device, totals);
        add_failures();
        // The few longest reasons are worth a line each; a library has thousands of functions without lines.
        for (const auto& [why, missing] : without_line_)
            part_.add_loss(name(Loss::sample_without_line), static_cast<std::int64_t>(missing.samples),
                           fmt::format("{}{}: {}", demangled(missing.first),
                                       missing.functions.size() > 1
                                           ? fmt::format(" and {} other functions", missing.functions.size() - 1)
                                           : "",
                                       why));
        return std::move(report_);
    }

private:
    struct WithoutLine {
        std::uint64_t samples = 0;
        std::string first;
        std::set<std::string> functions;
    };

    // Of several modules with one key, the one that has the function: CUPTI's key has 32 bits.
    const Module* module_of(const SampledInstruction& at) const {
        auto [begin, end] = modules_.equal_range(at.cubin);
        const Module* found = begin == end ? nullptr : &begin->second;
        for (auto each = begin; each != end; ++each)
            if (each->second.has(at.function)) found = &each->second;
        return found;
    }

    struct Place {
        const Module* module = nullptr;
        std::optional<cubin::SourceLine> line;
        std::string why;  // without a line
    };
    Place place_of(const SampledInstruction& at) const {
        Place place{module_of(at), {}, "their module was not seen when it was loaded"};
        if (place.module != nullptr) place.line = place.module->line(at.function, at.offset, place.why);
        return place;
    }

    void add_row(const SampledInstruction& at, const Place& place, std::string_view metric, std::string_view unit,
                 std::uint64_t value) {
        RowBuffer& row = part_.table("instruction_counter").add();
        if (std::string process = process_of(at.process); !process.empty()) row.set("process", part_.intern(process));
        row.set("device", std::int64_t{at.device});
        if (place.module != nullptr) row.set("module", part_.intern(fmt::format("{:016x}", place.module->hash())));
        if (!at.function.empty()) row.set("function", part_.intern(demangled(at.function)));
        row.set("offset", static_cast<std::int64_t>(at.offset));
        if (place.line) row.set("file", part_.intern(place.line->file)).set("line", std::int64_t{place.line->line});
        row.set("metric", part_.intern(metric));
        if (!unit.empty()) row.set("unit", part_.intern(unit));
        row.set_real("value", static_cast<double>(value));
    }

    void add_samples(const SampledInstruction& at, const std::map<std::string, std::uint64_t>& counts) {
        Place place = place_of(at);
        std::uint64_t samples = 0;
        for (const auto& [reason, count] : counts) {
            add_row(at, place, "samples." + reason, "samples", count);
            if (!reason.ends_with("_not_issued")) samples += count;
        }
        ++report_.instructions;
        report_.samples += samples;
        if (place.line) {
            report_.with_line += samples;
            return;
        }
        WithoutLine& missing = without_line_[place.why];
        if (missing.functions.empty()) missing.first = at.function;
        missing.samples += samples;
        missing.functions.insert(at.function);
    }

    void add_counters(const SampledInstruction& at, const std::map<std::string, std::uint64_t>& values) {
        Place place = place_of(at);
        for (const auto& [metric, value] : values) add_row(at, place, metric, spooled_.units.at(metric), value);
        ++report_.counted;
        report_.counted_with_line += place.line.has_value();
    }

    std::string process_of(std::size_t process) const {
        const SampledProcess& sampled = spooled_.processes[process];
        return request_.with_trace ? process_in_trace(request_.processes, sampled.rank) : sampled.key;
    }

    // `place` for the recording, `remark` for the terminal.
    void lose(Loss loss, std::uint64_t count, const std::string& place, const std::string& remark) {
        if (count == 0) return;
        part_.add_loss(name(loss), static_cast<std::int64_t>(count), place);
        report_.remarks.push_back(remark);
    }

    void add_losses(std::uint32_t device, const SampleTotals& totals) {
        if (!period_written_)
            part_.add_fact(meta_key::kStallPeriod, fmt::format("{}", std::uint64_t{1} << (totals.period & 31)));
        period_written_ = true;
        std::string gpu = fmt::format("GPU {}", device);
        std::string dropped = fmt::format("the hardware dropped {} of {} warp samples", count_of(totals.dropped),
                                          count_of(totals.samples));
        lose(Loss::lost_sample, totals.dropped, fmt::format("{}: {}", gpu, dropped),
             fmt::format("{}: {}; sample less often (--stall-period)", gpu, dropped));
        constexpr std::string_view kFullBuffer =
            "the sample buffer overflowed, and all samples since the last read were lost";
        lose(Loss::lost_sample, totals.full_reads, fmt::format("{}: {}", gpu, kFullBuffer),
             fmt::format("{}: {}, {} {}; sample less often (--stall-period)", gpu, kFullBuffer, totals.full_reads,
                         totals.full_reads == 1 ? "time" : "times"));
        constexpr std::string_view kUnread = "CUPTI did not hand over all its records";
        lose(Loss::lost_sample, totals.unread, fmt::format("{}: {}", gpu, kUnread),
             fmt::format("{}: {}", gpu, kUnread));
        std::string others = "kernels that CUPTI does not show, such as the driver's";
        lose(Loss::sample_without_line, totals.others, fmt::format("{}: {}", gpu, others),
             fmt::format("{}: {} warp samples are of {}", gpu, count_of(totals.others), others));
    }

    void add_failures() {
        for (const SampleFailure& failure : spooled_.failures) {
            std::string why = pm::explain(failure.function.c_str(), static_cast<int>(failure.code)).message;
            part_.add_loss(name(Loss::recorder_refused), 1, "warp samples: " + why);
            report_.remarks.push_back(fmt::format("cannot sample the warps of GPU {}: {}", failure.device, why));
        }
        for (const std::string& refused : spooled_.refused) {
            if (request_.with_trace) part_.add_loss(name(Loss::recorder_refused), 1, refused);
            report_.remarks.push_back(refused);
        }
        if (spooled_.damaged > 0)
            part_.add_loss(name(Loss::damaged_chunk), static_cast<std::int64_t>(spooled_.damaged), "warp samples");
    }

    const SpooledSamples& spooled_;
    const SampleRequest& request_;
    CapturePart& part_;
    std::multimap<std::uint64_t, Module> modules_;  // by CUPTI's key
    std::map<std::string, WithoutLine> without_line_;
    SampleReport report_;
    bool period_written_ = false;
};

}  // namespace

std::string process_in_trace(const std::vector<TracedProcess>& processes, std::int64_t rank) {
    if (processes.size() == 1) return processes.front().key;
    for (const TracedProcess& traced : processes)
        if (traced.rank >= 0 && traced.rank == rank) return traced.key;
    return "";
}

Result<SampleReport> write_samples(const SpooledSamples& spooled, const SampleRequest& request) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(request.part, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    SampleReport report = Writer(spooled, request, **part).write();
    if (Status closed = (*part)->close(); !closed) return closed.error();
    return report;
}

}  // namespace gpuprof::counters
