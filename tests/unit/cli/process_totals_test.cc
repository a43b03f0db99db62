// Totals of one process: histograms, records that are late, bogus or damaged, parts that are missing, and memory that does not grow.
#include "cli/aggregate/process_totals.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/aggregate/totals.h"
#include "cli/serve/jobs.h"
#include "core/format/bytes.h"
#include "core/format/spool.h"

namespace gpuprof {
namespace {

constexpr TimeNs kStart = 1'000'000'000'000;
constexpr std::uint32_t kKernelBytes = 216, kCallBytes = 40, kLaunchId = 211, kWaitId = 165;

RawChunk chunk(ChunkKind kind, const std::string& payload) {
    RawChunk made;
    made.header.kind = static_cast<std::uint32_t>(kind);
    made.payload.append(payload.data(), payload.size());
    return made;
}

void put_pair(std::string& to, std::string_view key, std::string_view value) {
    for (std::string_view text : {key, value}) {
        put_u32(to, static_cast<std::uint32_t>(text.size()));
        to += text;
    }
}

struct Process {
    JobTotals job;
    ProcessTotals totals{job};
    std::string records;

    explicit Process(int part = 0) { begin(part); }
    void begin(int part) {
        std::string facts;
        put_pair(facts, "first_part", "7");
        put_pair(facts, "part", std::to_string(part));
        totals.take(chunk(ChunkKind::spool_process, facts));
        std::string names;
        name(names, spool::NameSpace::pointer, 1, "compute");
        name(names, spool::NameSpace::pointer, 2, "ncclDevKernel_AllReduce");
        name(names, spool::NameSpace::runtime_api, kLaunchId, "cudaLaunchKernel_v7000");
        name(names, spool::NameSpace::runtime_api, kWaitId, "cudaDeviceSynchronize_v3020");
        totals.take(chunk(ChunkKind::spool_names, names));
    }
    static void name(std::string& to, spool::NameSpace space, std::uint64_t id, std::string_view text) {
        put_u8(to, static_cast<std::uint8_t>(space));
        put_u64(to, id);
        put_u32(to, static_cast<std::uint32_t>(text.size()));
        to += text;
    }
    template <class T>
    static void set(std::string& record, cupti::Field<T> field, std::uint64_t value) {
        auto narrow = static_cast<T>(value);
        std::memcpy(record.data() + field.offset, &narrow, sizeof narrow);
    }
    void kernel(TimeNs start, DurNs length, std::uint32_t call = 0, std::uint64_t kernel_name = 1) {
        std::string record(kKernelBytes, '\0');
        set(record, cupti::Field<std::uint32_t>{0}, 10);
        set(record, cupti::kernel::start, static_cast<std::uint64_t>(start));
        set(record, cupti::kernel::end, static_cast<std::uint64_t>(start + length));
        set(record, cupti::kernel::name, kernel_name);
        set(record, cupti::kernel::correlation, call);
        records += record;
    }
    void call(std::uint32_t function, TimeNs start, DurNs length, std::uint32_t id) {
        std::string record(kCallBytes, '\0');
        set(record, cupti::Field<std::uint32_t>{0}, 5);
        set(record, cupti::api::cbid, function);
        set(record, cupti::api::start, static_cast<std::uint64_t>(start));
        set(record, cupti::api::end, static_cast<std::uint64_t>(start + length));
        set(record, cupti::api::thread, 9);
        set(record, cupti::api::correlation, id);
        records += record;
    }
    // A push with this name, or a pop.
    void range(TimeNs time, std::string_view text, std::uint64_t domain = 0, std::uint32_t thread = 9) {
        std::string payload;
        put_u32(payload, thread);
        spool::HostEvent event{};
        event.op = text.empty() ? spool::HostEventOp::pop : spool::HostEventOp::push;
        event.text_kind = text.empty() ? spool::TextKind::none : spool::TextKind::inline_text;
        event.time = static_cast<std::uint64_t>(time);
        event.domain = domain;
        event.text = text.size();
        std::string padded(text);
        padded.resize((text.size() + 7) / 8 * 8);
        event.bytes = static_cast<std::uint32_t>(sizeof event + padded.size());
        payload.append(reinterpret_cast<const char*>(&event), sizeof event);
        totals.take(chunk(ChunkKind::spool_nvtx, payload + padded));
    }
    // A kernel that was launched at `time`.
    void launched(TimeNs time, std::uint32_t id) {
        call(kLaunchId, time, 5, id);
        kernel(time + 10, 100, id);
    }
    std::map<std::string, std::uint64_t> phases() const {
        std::map<std::string, std::uint64_t> counts;
        for (const KernelTotal& each : rank().kernels)
            for (const PhaseTotal& of : each.phases) counts[rank().phases.at(of.phase)] += of.count;
        return counts;
    }
    void deliver() {
        std::string payload;
        put_u32(payload, 2);
        for (auto [kind, bytes] : {std::pair{10U, kKernelBytes}, {5U, kCallBytes}}) {
            put_u32(payload, kind);
            put_u32(payload, bytes);
        }
        totals.take(chunk(ChunkKind::spool_activity, payload + std::exchange(records, "")));
    }
    const RankTotals& rank() const { return job.ranks.at(0); }
    const DeviceTotal& device() const { return rank().devices.at(0); }
    DurNs idle(Gap cause) const { return device().idle[static_cast<std::size_t>(cause)]; }
};

TEST(Durations, edges_are_an_eighth_of_an_octave_apart) {
    EXPECT_EQ(Durations::edge_of(0), 0);
    EXPECT_EQ(Durations::edge_of(1), 0);
    EXPECT_EQ(Durations::edge_of(2), 8);
    EXPECT_EQ(Durations::edge_of(3), 8 + 5);  // 2^(13/8) = 3.08
    EXPECT_EQ(Durations::edge_of(1024), 80);
    EXPECT_EQ(Durations::edge_of(1025), 81);
    EXPECT_EQ(Durations::edge_of(INT64_MAX), Durations::kEdges - 1);
    int before = 0;
    for (DurNs each = 1; each < 1'000'000; each += 1 + each / 50) {
        EXPECT_GE(Durations::edge_of(each), before);
        before = Durations::edge_of(each);
    }
}

TEST(ProcessTotals, a_gap_has_the_cause_of_the_launch_that_ends_it) {
    Process process;
    process.call(kLaunchId, kStart - 100, 10, 1);
    process.call(kLaunchId, kStart - 50, 10, 2);
    process.kernel(kStart, 1000, 1);
    process.kernel(kStart + 1500, 1000, 2);  // queued: 500
    process.call(kLaunchId, kStart + 2600, 10, 3);
    process.kernel(kStart + 2700, 1000, 3);  // host late: 200
    process.call(kWaitId, kStart + 3000, 750, 4);
    process.call(kLaunchId, kStart + 3800, 10, 5);
    process.kernel(kStart + 4000, 1000, 5);  // host waited: 300
    process.kernel(kStart + 5070, 100, 99);  // unknown: 70
    process.deliver();
    process.totals.sweep(true);
    EXPECT_EQ(process.device().busy, 4100);
    EXPECT_EQ(process.idle(Gap::queued), 500);
    EXPECT_EQ(process.idle(Gap::host_late), 200);
    EXPECT_EQ(process.idle(Gap::host_waited), 300);
    EXPECT_EQ(process.idle(Gap::unknown), 70);
}

TEST(ProcessTotals, a_kernel_is_in_the_phase_of_its_launch) {
    Process process;
    process.launched(kStart, 1);
    process.range(kStart + 1000, "forward 12");
    process.launched(kStart + 2000, 2);
    process.range(kStart + 3000, "layer", 4);
    process.range(kStart + 3500, "forward", 0, 8);  // another thread
    process.launched(kStart + 4000, 3);
    process.range(kStart + 5000, "");  // of domain 0: "layer" stays open
    process.launched(kStart + 6000, 4);
    process.range(kStart + 7000, "", 4);
    process.launched(kStart + 8000, 5);
    process.kernel(kStart + 9000, 100, 99);  // its launch was not recorded
    process.deliver();
    process.totals.sweep(true);
    using Counts = std::map<std::string, std::uint64_t>;
    EXPECT_EQ(process.phases(), (Counts{{"(none)", 2}, {"forward", 1}, {"layer", 2}, {"(unknown)", 1}}));
    EXPECT_EQ(encode(parse_job_totals(encode(process.job)).value()), encode(process.job));
}

TEST(ProcessTotals, phases_are_few_and_unknown_after_a_part_that_is_missing) {
    Process process;
    for (std::uint32_t i = 0; i < 40; ++i) {
        process.range(kStart + i * 1000, std::string("phase") + static_cast<char>('A' + i) + "x");
        process.launched(kStart + i * 1000 + 500, i + 1);
    }
    for (int i = 0; i < 40; ++i) process.range(kStart + 50'000, "");
    process.range(kStart + 51'000, "new");
    process.launched(kStart + 51'500, 100);
    process.deliver();
    process.totals.sweep(false);
    process.begin(2);  // part 1 is missing
    process.launched(kStart + 52'000, 101);
    process.range(kStart + 53'000, "phaseAx");
    process.launched(kStart + 53'500, 102);
    process.deliver();
    process.totals.sweep(true);
    std::map<std::string, std::uint64_t> phases = process.phases();
    EXPECT_EQ(process.rank().phases.size(), 3U + RankTotals::kMostPhases);
    EXPECT_EQ(phases["phaseAx"], 2U);
    EXPECT_EQ(phases["phasePx"], 25U);  // the innermost phase around those that came too late
    EXPECT_EQ(phases["(other)"], 1U);
    EXPECT_EQ(phases["(unknown)"], 1U);
}

TEST(ProcessTotals, a_collective_is_exposed_while_no_other_kernel_runs) {
    Process process;
    process.kernel(kStart, 1000, 0, 2);
    process.kernel(kStart + 400, 200, 0, 1);
    process.deliver();
    process.totals.sweep(true);
    EXPECT_EQ(process.device().busy, 1000);
    EXPECT_EQ(process.device().collective, 1000);
    EXPECT_EQ(process.device().exposed_collective, 800);
}

TEST(ProcessTotals, what_comes_within_the_window_is_in_order_and_what_comes_later_is_counted) {
    Process process;
    process.kernel(kStart + 1'000'000'000, 1000);
    process.deliver();
    process.totals.sweep(false);
    process.kernel(kStart, 1000);  // a second late
    process.kernel(kStart + 9'000'000'000, 1000);
    process.deliver();
    process.totals.sweep(false);
    EXPECT_EQ(process.device().late, 0U);
    EXPECT_EQ(process.device().busy, 1000);  // up to the start of the second one
    process.kernel(kStart + 500, 1000);      // nine seconds late
    process.deliver();
    process.totals.sweep(true);
    EXPECT_EQ(process.device().late, 1U);
    EXPECT_EQ(process.device().busy, 3000);
    EXPECT_EQ(process.rank().kernels.at(0).runs.count, 4U);
    EXPECT_EQ(process.rank().kernels.at(0).runs.total, 4000);
}

TEST(ProcessTotals, bogus_records_and_missing_parts_are_lost_by_reason) {
    Process process;
    process.kernel(0, 1000);
    process.kernel(kStart, -5);
    process.deliver();
    std::string clock;
    for (std::uint64_t reading : {std::uint64_t{kStart}, std::uint64_t{1}, std::uint64_t{0}}) put_u64(clock, reading);
    process.totals.take(chunk(ChunkKind::spool_clock, clock));
    process.kernel(kStart + 61'000'000'000, 10);
    process.deliver();
    process.records = "\x0a";
    process.records.resize(9);
    process.deliver();
    process.begin(4);
    const std::map<std::string, std::uint64_t> expected{
        {"untimed", 2}, {"implausible", 1}, {"damaged chunks", 1}, {"parts", 3}};
    EXPECT_EQ(process.rank().lost, expected);
    EXPECT_TRUE(process.rank().kernels.empty());
}

TEST(ProcessTotals, random_chunks_do_no_harm) {
    Process process;
    std::uint64_t state = 1;
    for (int round = 0; round < 3000; ++round) {
        std::string payload;
        for (int i = 0; i < 80; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            payload += static_cast<char>((state >> 60) < 9 ? state >> 58 & 3 : state >> 33);
        }
        for (ChunkKind kind : {ChunkKind::spool_activity, ChunkKind::spool_names, ChunkKind::spool_nvtx,
                               ChunkKind::spool_lost, ChunkKind::spool_facts, ChunkKind::spool_clock})
            process.totals.take(chunk(kind, payload));
    }
    process.totals.sweep(true);
    SUCCEED();
}

TEST(JobTotals, a_snapshot_reads_back_and_continues) {
    Process process;
    process.kernel(kStart, 1000);
    process.kernel(kStart + 1500, 10, 0, 2);
    process.deliver();
    process.totals.sweep(true);
    process.job.written = 5;
    process.job.choose_shown();
    std::string text = encode(process.job);
    Result<JobTotals> read = parse_job_totals(text);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(encode(*read), text);
    for (std::size_t length = 0; length < text.size(); length += 7)
        (void)parse_job_totals(std::string_view(text).substr(0, length));
    EXPECT_FALSE(parse_job_totals("{}").ok());
    for (const char* number : {"-5", "9223372036854775807", "18446744073709551615", "0.5"}) {
        std::string bad = text;
        bad.replace(bad.find("\"written_ns\": 5") + 14, 1, number);
        EXPECT_FALSE(parse_job_totals(bad).ok()) << number;
    }
}

TEST(JobPages, a_folder_that_is_missing_is_a_problem) {
    JobPages pages("/nonexistent/folder");
    pages.look(kStart);
    EXPECT_NE(pages.problem(), "");
    EXPECT_TRUE(pages.profile(0, kStart).ok());
}

}  // namespace
}  // namespace gpuprof
