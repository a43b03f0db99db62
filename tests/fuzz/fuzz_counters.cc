// Fuzz target of the measurement of kernel counters: a plan, and a spool file with images or samples. A plan that is accepted is written back as it
// was; an image is never longer than the file, and one that is damaged does not have the hash that was noted.
#include <algorithm>
#include <optional>
#include <string>

#include "collect/counters/skips.h"
#include "collect/counters/spooled_images.h"
#include "collect/counters/spooled_samples.h"
#include "core/format/chunk.h"
#include "core/format/counter_plan.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/format/byte_source.h"

namespace gpuprof::fuzz {
namespace {

// A plan is checked as it is, and with the checksum that it should have, so that changes reach its fields.
void read_plan(std::string_view bytes) {
    constexpr std::size_t kHead = 12;
    std::string fixed(bytes);
    if (bytes.size() >= kHead) {
        std::uint32_t sum = checksum(bytes.substr(kHead));
        for (std::size_t i = 0; i < 4; ++i) fixed[8 + i] = static_cast<char>(sum >> (8 * i));
    }
    for (std::string_view plan : {bytes, std::string_view(fixed)})
        if (std::optional<CounterPlan> known = decode_counter_plan(plan))
            promise(encode(*known) == plan, "a plan is written as it was read");
}

// The bytes as the payload of every kind of chunk, one after the other.
std::string as_payloads(std::string_view bytes) {
    std::string file;
    std::uint32_t sequence = 0;
    for (ChunkKind kind : {ChunkKind::spool_process, ChunkKind::spool_counter_note, ChunkKind::spool_counter_image,
                           ChunkKind::spool_counter_skips, ChunkKind::spool_counter_hung, ChunkKind::spool_cubin,
                           ChunkKind::spool_stall_reasons, ChunkKind::spool_stall_read, ChunkKind::spool_stall_failure,
                           ChunkKind::spool_sass_counts, ChunkKind::end})
        (file += encode_header(kind, sequence++, bytes)).append(bytes);
    return file;
}

void read_spool(std::string_view bytes) {
    counters::SpooledImages spooled;
    test::Bytes input(bytes);
    promise(counters::read_images(input, spooled).ok(), "any bytes are read");
    for (const counters::Measurement& each : spooled.measurements)
        promise(each.image.size() <= bytes.size(), "an image is a part of the file");
    for (const auto& [reason, skipped] : spooled.skipped)
        promise(!counters::explain_skip(reason, skipped).empty(), "every reason has a sentence");
}

void read_samples(std::string_view bytes) {
    counters::SpooledSamples spooled;
    test::Bytes input(bytes);
    promise(counters::read_samples(input, spooled).ok(), "any bytes are read");
    for (const auto& [at, counts] : spooled.counts) {
        promise(at.process < spooled.processes.size(), "samples belong to a process");
        promise(!counts.empty(), "an instruction has samples");
    }
    for (const auto& [at, values] : spooled.counters)
        for (const auto& [metric, value] : values)
            promise(spooled.units.count(metric) == 1 && value > 0, "a counter has a unit and a value");
    for (const counters::SpooledCubin& cubin : spooled.cubins)
        promise(cubin.image.empty() || image_hash(cubin.image) == cubin.hash, "a cubin has the hash that was noted");
}

}  // namespace

void run_counters(std::string_view bytes) {
    read_plan(bytes);
    read_spool(bytes);
    read_spool(as_payloads(bytes));
    read_samples(bytes);
    read_samples(as_payloads(bytes));
}

}  // namespace gpuprof::fuzz
