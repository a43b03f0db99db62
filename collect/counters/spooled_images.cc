#include "collect/counters/spooled_images.h"

#include <fmt/format.h>

#include "collect/counters/spool_input.h"
#include "core/base/ids.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/format/bytes.h"

namespace gpuprof::counters {
namespace {

std::string text_of(ByteCursor& cursor) { return std::string(cursor.take(cursor.u32())); }

// Sorts the chunks of one file.
class ImageReader {
public:
    explicit ImageReader(SpooledImages& to) : to_(to) {}

    void take(const RawChunk& chunk) {
        std::string_view payload = chunk.bytes();
        if (chunk.header.is(ChunkKind::spool_process)) take_process(payload);
        if (chunk.header.is(ChunkKind::spool_counter_note)) take_note(payload);
        if (chunk.header.is(ChunkKind::spool_counter_image)) take_image(payload);
        if (chunk.header.is(ChunkKind::spool_counter_skips)) take_skips(payload);
        if (chunk.header.is(ChunkKind::spool_counter_hung)) take_hung(payload);
        if (chunk.header.is(ChunkKind::spool_refused)) to_.refused.emplace_back(payload);
    }

    void finish() {
        for (const auto& [reason, skipped] : skipped_) {
            Skipped& all = to_.skipped[reason];
            if (all.count == 0) all.first = skipped.first;
            all.count += skipped.count;
        }
    }

private:
    void take_process(std::string_view payload) {
        ProcessFacts facts = facts_of(payload);
        process_ = facts.key;
        rank_ = facts.rank;
    }
    void take_note(std::string_view payload) {
        Measurement measurement;
        if (!take_record(payload, measurement.launch)) return;
        ByteCursor cursor(payload);
        std::string name = text_of(cursor);
        measurement.name = measurement.launch.range == 0 ? demangled(name) : name;
        measurement.process = process_;
        measurement.rank = rank_;
        by_number_[measurement.launch.number] = to_.measurements.size();
        to_.measurements.push_back(std::move(measurement));
    }
    void take_image(std::string_view payload) {
        spool::CounterImage about{};
        if (!take_record(payload, about)) return;
        auto found = by_number_.find(about.number);
        if (found == by_number_.end()) return;
        Measurement& measurement = to_.measurements[found->second];
        measurement.about = about;
        measurement.image = payload;
        measurement.complete = true;
    }
    void take_skips(std::string_view payload) {
        skipped_.clear();
        for (ByteCursor cursor(payload); cursor.left() > 0 && cursor.ok();) {
            auto reason = static_cast<spool::CounterSkip>(cursor.u8());
            std::uint64_t count = cursor.u64();
            std::string first = demangled(text_of(cursor));
            if (cursor.ok() && count > 0) skipped_[reason] = {count, first};
        }
    }
    void take_hung(std::string_view payload) {
        ByteCursor cursor(payload);
        std::uint64_t number = cursor.u64(), ns = cursor.u64();
        auto found = by_number_.find(number);
        if (!cursor.ok() || found == by_number_.end()) return;
        to_.hung.push_back(fmt::format("{} did not end within {}", to_.measurements[found->second].name,
                                       readable_duration(static_cast<DurNs>(ns))));
    }

    SpooledImages& to_;
    std::string process_;
    std::int64_t rank_ = -1;
    std::map<std::uint64_t, std::size_t> by_number_;
    std::map<spool::CounterSkip, Skipped> skipped_;
};

}  // namespace

Status read_images(ByteInput& input, SpooledImages& to) {
    ImageReader reader(to);
    Status status = read_chunks(input, [&](const RawChunk& chunk) { reader.take(chunk); });
    if (status) reader.finish();
    return status;
}

Status read_images(const std::string& file, SpooledImages& to) {
    return read_chunks_of(file, [&](ByteInput& input) { return read_images(input, to); });
}

}  // namespace gpuprof::counters
