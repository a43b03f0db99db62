#include "collect/counters/spooled_images.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/function_name.h"
#include "core/base/ids.h"
#include "core/base/readable.h"
#include "core/format/bytes.h"
#include "core/format/chunk_reader.h"

namespace gpuprof::counters {
namespace {

class FileInput final : public ByteInput {
public:
    explicit FileInput(const std::string& file) : file_(std::fopen(file.c_str(), "rbe"), std::fclose) {}
    bool open() const { return file_ != nullptr; }
    Result<std::size_t> read(char* into, std::size_t size) override { return std::fread(into, 1, size, file_.get()); }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

template <class Record>
bool take_record(std::string_view& payload, Record& into) {
    if (payload.size() < sizeof into) return false;
    std::memcpy(&into, payload.data(), sizeof into);
    payload.remove_prefix(sizeof into);
    return true;
}

std::string text_of(ByteCursor& cursor) { return std::string(cursor.take(cursor.u32())); }

// Sorts the chunks of one file.
class Reader {
public:
    explicit Reader(SpooledImages& to) : to_(to) {}

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
        std::map<std::string, std::string> facts;
        for (ByteCursor cursor(payload); cursor.left() > 0 && cursor.ok();) {
            std::string key = text_of(cursor);
            facts[key] = text_of(cursor);
        }
        process_ = facts["host"] + ":" + facts["pid"];
        rank_ = facts["RANK"].empty() ? -1 : std::strtoll(facts["RANK"].c_str(), nullptr, 10);
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
    ChunkReader chunks(input);
    Reader reader(to);
    for (RawChunk chunk;;) {
        Result<bool> more = chunks.next(chunk);
        if (!more.ok()) return more.error();
        if (!*more) break;
        reader.take(chunk);
    }
    reader.finish();
    return {};
}

Status read_images(const std::string& file, SpooledImages& to) {
    FileInput input(file);
    if (!input.open())
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", file, std::strerror(errno))};
    return read_images(input, to);
}

}  // namespace gpuprof::counters
