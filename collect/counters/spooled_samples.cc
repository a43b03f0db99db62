#include "collect/counters/spooled_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "collect/counters/spool_input.h"
#include "core/format/bytes.h"
#include "core/format/counter_plan.h"

namespace gpuprof::counters {
namespace {

constexpr std::string_view kPrefix = "stalled_";
constexpr std::uint32_t kMostReasons = 512;                                // of one instruction
constexpr std::uint32_t kMostMetrics = 64;                                 // of one launch
constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();  // in a column

class SampleReader {
public:
    explicit SampleReader(SpooledSamples& to) : to_(to) {}

    void take(const RawChunk& chunk) {
        std::string_view payload = chunk.bytes();
        if (chunk.header.is(ChunkKind::spool_process)) take_process(payload);
        if (chunk.header.is(ChunkKind::spool_cubin)) take_cubin(payload);
        if (chunk.header.is(ChunkKind::spool_stall_reasons)) take_reasons(payload);
        if (chunk.header.is(ChunkKind::spool_stall_read)) take_read(payload);
        if (chunk.header.is(ChunkKind::spool_stall_failure)) take_failure(payload);
        if (chunk.header.is(ChunkKind::spool_sass_counts)) take_counts(payload);
        if (chunk.header.is(ChunkKind::spool_refused)) refused_.emplace_back(payload);
    }

    void finish() {
        for (const auto& [key, totals] : spans_) {
            SampleTotals& all = to_.processes[*process_].devices[key.first];
            add(all.samples, totals.samples);
            add(all.dropped, totals.dropped);
            add(all.others, totals.others);
        }
        for (const std::string& sentence : refused_)
            if (process_ || sentence.starts_with("warp samples")) to_.refused.push_back(sentence);
    }

private:
    // A damaged file may have any numbers; one whose sum no column holds is skipped and counted.
    void add(std::uint64_t& sum, std::uint64_t value) {
        if (value > kMost - sum)
            ++to_.damaged;
        else
            sum += value;
    }
    void take_process(std::string_view payload) { facts_ = facts_of(payload); }
    // Only files with samples have a process here.
    std::size_t process() {
        if (process_) return *process_;
        process_ = to_.processes.size();
        to_.processes.push_back({facts_.key, facts_.rank, {}});
        return *process_;
    }
    void take_cubin(std::string_view payload) {
        spool::CubinKey key{};
        if (!take_record(payload, key)) return;
        process();
        SpooledCubin cubin{key.crc, key.hash, key.bytes, {}};
        if (payload.size() == key.bytes && image_hash(payload) == key.hash) cubin.image = payload;
        auto known = std::find_if(to_.cubins.begin(), to_.cubins.end(), [&](const SpooledCubin& each) {
            return each.hash == key.hash && each.crc == key.crc;
        });
        if (known == to_.cubins.end())
            to_.cubins.push_back(std::move(cubin));
        else if (known->image.empty())
            *known = std::move(cubin);
    }
    void take_reasons(std::string_view payload) {
        for (ByteCursor cursor(payload); cursor.left() > 0;) {
            std::uint32_t index = cursor.u32();
            std::string_view name = cursor.take(cursor.u32());
            if (!cursor.ok()) return;
            reasons_[index] = stall_reason(name);
        }
    }
    void take_read(std::string_view payload) {
        spool::StallRead about{};
        if (!take_record(payload, about)) return;
        SampleTotals& totals = to_.processes[process()].devices[about.device];
        ++totals.reads;
        totals.full_reads += about.buffer_full != 0;
        totals.unread += about.unread != 0;
        totals.period = about.period;
        // Whether later reads of a span count its earlier ones again is unknown, so the largest of them counts.
        SampleTotals& span = spans_[{about.device, about.span}];
        span.samples = std::max(span.samples, about.samples);
        span.dropped = std::max(span.dropped, about.dropped);
        span.others = std::max(span.others, about.others);
        for (ByteCursor cursor(payload); cursor.left() > 0;)
            if (!take_instruction(cursor, about.device)) {
                ++to_.damaged;
                return;
            }
    }
    bool take_instruction(ByteCursor& cursor, std::uint32_t device) {
        SampledInstruction at;
        at.process = process();
        at.device = device;
        at.cubin = cursor.u64();
        at.offset = cursor.u64();
        cursor.u32();  // correlation: of launches, which continuous sampling does not tell apart
        at.function = cursor.take(cursor.u32());
        std::uint32_t count = cursor.u32();
        if (!cursor.ok() || count > kMostReasons) return false;
        std::map<std::string, std::uint64_t>* counts = nullptr;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t index = cursor.u32(), samples = cursor.u32();
            if (!cursor.ok()) return false;
            if (samples == 0) continue;
            auto reason = reasons_.find(index);
            if (counts == nullptr) counts = &to_.counts[at];
            (*counts)[reason == reasons_.end() ? "unknown" : reason->second] += samples;
        }
        return true;
    }
    void take_counts(std::string_view payload) {
        spool::SassCounts about{};
        if (!take_record(payload, about) || about.metrics == 0 || about.metrics > kMostMetrics) return;
        ByteCursor cursor(payload);
        std::vector<std::string> names;
        for (std::uint32_t i = 0; i < about.metrics; ++i) {
            std::string name(cursor.take(cursor.u32())), unit(cursor.take(cursor.u32()));
            if (!cursor.ok()) return;
            to_.units.emplace(name, unit);
            names.push_back(std::move(name));
        }
        while (cursor.left() > 0) {
            SampledInstruction at;
            at.process = process();
            at.device = about.device;
            at.cubin = cursor.u64();
            at.offset = cursor.u64();
            at.function = cursor.take(cursor.u32());
            std::vector<std::uint64_t> values(names.size());
            for (std::uint64_t& value : values) value = cursor.u64();
            if (!cursor.ok()) {
                ++to_.damaged;
                return;
            }
            for (std::size_t i = 0; i < names.size(); ++i)
                if (values[i] > kMost)
                    ++to_.damaged;
                else if (values[i] > 0)
                    add(to_.counters[at][names[i]], values[i]);
        }
    }
    void take_failure(std::string_view payload) {
        spool::StallFailure failure{};
        if (!take_record(payload, failure)) return;
        process();
        SampleFailure added{
            {failure.function, strnlen(failure.function, sizeof failure.function)}, failure.code, failure.device};
        if (std::find(to_.failures.begin(), to_.failures.end(), added) == to_.failures.end())
            to_.failures.push_back(std::move(added));
    }

    SpooledSamples& to_;
    ProcessFacts facts_;
    std::optional<std::size_t> process_;
    std::map<std::uint32_t, std::string> reasons_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, SampleTotals> spans_;  // by device and span
    std::vector<std::string> refused_;
};

}  // namespace

std::string stall_reason(std::string_view name) {
    std::size_t at = name.find(kPrefix);
    return std::string(at == std::string_view::npos ? name : name.substr(at + kPrefix.size()));
}

Status read_samples(ByteInput& input, SpooledSamples& to) {
    SampleReader reader(to);
    Status status = read_chunks(input, [&](const RawChunk& chunk) { reader.take(chunk); });
    if (status) reader.finish();
    return status;
}

Status read_samples(const std::string& file, SpooledSamples& to) {
    return read_chunks_of(file, [&](ByteInput& input) { return read_samples(input, to); });
}

}  // namespace gpuprof::counters
