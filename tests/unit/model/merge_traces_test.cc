// Several recordings as one: what stays apart, what is the same, and what cannot be compared.
#include "core/model/build/merge_traces.h"

#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

constexpr TimeNs kMergeDay = TimeNs{1'700'000'000} * 1'000'000'000;

// A call and the kernel that it launched, at `start`.
Draft launched_at(TimeNs start) {
    Draft draft;
    draft.call("main", start, start + 5, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, start + 10, start + 110, "gemm", 1);
    return draft;
}

void describe_device(Draft& draft, std::string_view uuid) {
    DeviceTable& device = draft.tables().device;
    Row row = device.add();
    device.device.set(row, 0);
    device.uuid.set(row, draft.intern(uuid));
}

void set_host(Draft& draft, std::string_view host) { draft.tables().process.host.set(0, draft.intern(host)); }

// As recordings of our own name processes.
void name_by_host(Draft& draft, std::string_view host) {
    set_host(draft, host);
    StringId key = draft.intern(std::string(host) + ":7");
    Tables& tables = draft.tables();
    tables.process.key.change(0, key), tables.thread.process.change(0, key);
    tables.api_call.process.change(0, key), tables.kernel.process.change(0, key);
}

Trace join(Draft first, Draft second) {
    std::vector<JobPart> parts;
    parts.push_back({"a", first.finish()});
    parts.push_back({"b", second.finish()});
    return merge_traces(std::move(parts), Origin{"job", "draft", ""}, Batch{});
}

std::vector<std::int32_t> devices_of(const Trace& trace) {
    std::vector<std::int32_t> devices;
    for (Row row = 0; row < trace.kernel().rows; ++row) devices.push_back(trace.kernel().device[row]);
    return devices;
}

std::vector<std::string> losses_of(const Trace& trace) {
    std::vector<std::string> kinds;
    for (Row row = 0; row < trace.tables().loss.rows; ++row)
        kinds.emplace_back(trace.text(trace.tables().loss.kind[row]));
    return kinds;
}

TEST(Join, KeepsEqualKeysApart) {
    Trace trace = join(launched_at(kMergeDay), launched_at(kMergeDay + 50));
    ASSERT_EQ(trace.tables().process.rows, 2U);
    EXPECT_EQ(trace.text(trace.tables().process.key[0]), "a:p");
    EXPECT_EQ(trace.text(trace.tables().process.name[1]), "b");
    EXPECT_EQ(trace.text(trace.api_call().thread[1]), "b:main");
    ASSERT_EQ(trace.links().kernel_launch.size(), 2U);
    EXPECT_EQ(trace.links().kernel_launch[0], 0U);  // by equal correlations, each within its file
    EXPECT_EQ(trace.links().kernel_launch[1], 1U);
    EXPECT_EQ(devices_of(trace), (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(trace.meta("device.1"), "device 0 of b");
    EXPECT_EQ(trace.window().length(), 160);
    EXPECT_EQ(losses_of(trace), std::vector<std::string>{"clocks_of_hosts"});
}

TEST(Join, AHostOrAnIdSaysWhatIsTheSame) {
    Draft a = launched_at(kMergeDay), b = launched_at(kMergeDay + 500);
    name_by_host(a, "node"), name_by_host(b, "node");
    Trace trace = join(std::move(a), std::move(b));
    ASSERT_EQ(trace.tables().process.rows, 1U);
    EXPECT_EQ(trace.text(trace.tables().process.key[0]), "node:7");
    EXPECT_EQ(devices_of(trace), (std::vector<std::int32_t>{0, 0}));
    EXPECT_EQ(losses_of(trace), std::vector<std::string>{"duplicate_correlation"});  // one process has it twice

    for (std::string_view other : {"GPU-1", "GPU-2"}) {
        Draft c = launched_at(kMergeDay), d = launched_at(kMergeDay);
        set_host(c, "node"), set_host(d, "node");
        describe_device(c, "GPU-1"), describe_device(d, other);
        Trace both = join(std::move(c), std::move(d));
        EXPECT_EQ(devices_of(both), (std::vector<std::int32_t>{0, other == "GPU-1" ? 0 : 1}));
        EXPECT_EQ(both.tables().device.rows, other == "GPU-1" ? 1U : 2U);
    }
}

TEST(Join, AHostBesideAPidDoesNotSayWho) {
    Draft a = launched_at(kMergeDay), b = launched_at(kMergeDay);
    set_host(a, "node"), set_host(b, "node");
    Trace trace = join(std::move(a), std::move(b));
    EXPECT_EQ(trace.tables().process.rows, 2U);
    EXPECT_EQ(devices_of(trace), (std::vector<std::int32_t>{0, 1}));
    EXPECT_TRUE(losses_of(trace).empty());  // one host has one clock
}

TEST(Join, WithoutACommonClockAllBeginTogether) {
    for (TimeNs other : {TimeNs{1000}, kMergeDay + DurNs{30} * 24 * 3600 * 1'000'000'000}) {
        Trace trace = join(launched_at(kMergeDay), launched_at(other));
        EXPECT_EQ(trace.window().length(), 110);
        EXPECT_EQ(trace.kernel().start[0], trace.kernel().start[1]);
        EXPECT_EQ(losses_of(trace), std::vector<std::string>{"no_common_clock"});
    }
}

TEST(Join, NumbersOfLaunchesDoNotMeet) {
    auto counted = [] {
        Draft draft;
        Row row = draft.tables().profiled_kernel.add();
        draft.tables().profiled_kernel.launch.set(row, 1);
        row = draft.tables().kernel_counter.add();
        draft.tables().kernel_counter.launch.set(row, 1);
        return draft;
    };
    Trace trace = join(counted(), counted());
    EXPECT_EQ(trace.tables().profiled_kernel.launch[0], trace.tables().kernel_counter.launch[0]);
    EXPECT_EQ(trace.tables().profiled_kernel.launch[1], trace.tables().kernel_counter.launch[1]);
    EXPECT_NE(trace.tables().profiled_kernel.launch[0], trace.tables().profiled_kernel.launch[1]);
}

TEST(Join, WorkOfNoKnownProcessIsOfItsFile) {
    auto stray = [] {
        Draft draft;
        KernelTable& kernel = draft.tables().kernel;
        Row row = kernel.add();
        kernel.start.set(row, kMergeDay);
        kernel.dur.set(row, 10);
        kernel.device.set(row, 0);
        kernel.correlation.set(row, 1);
        return draft;
    };
    Trace trace = join(launched_at(kMergeDay), stray());
    EXPECT_EQ(trace.text(trace.kernel().process[0]), "b");
    EXPECT_EQ(trace.links().kernel_launch[0], kNoRow);  // the call of the other file has that correlation too
}

}  // namespace
}  // namespace gpuprof
