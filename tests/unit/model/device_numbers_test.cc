// Which devices of several recordings are one GPU, and what number each gets.
#include "core/model/build/device_numbers.h"

#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

constexpr TimeNs kToday = TimeNs{1'700'000'000} * 1'000'000'000;

// A recording of one process with a kernel of 100 ns on `device`.
struct Recording {
    std::string file = {};
    std::int32_t device = 0;
    std::int64_t pid = 0, rank = -1;
    std::string uuid = {}, host = {}, tool = "torch.profiler", name = {};
    TimeNs start = kToday;
    bool host_and_pid = false;
};

void describe(Draft& draft, std::int32_t device, std::string_view uuid, std::string_view name) {
    DeviceTable& table = draft.tables().device;
    Row row = table.add();
    table.device.set(row, device);
    if (!uuid.empty()) table.uuid.set(row, draft.intern(uuid));
    if (!name.empty()) table.name.set(row, draft.intern(name));
}

Trace trace_of(const Recording& recording) {
    Draft draft;
    draft.kernel(recording.device, 7, recording.start, recording.start + 100, "gemm");
    Tables& tables = draft.tables();
    if (recording.pid != 0) tables.process.pid.set(0, recording.pid);
    if (recording.rank >= 0) tables.process.rank.set(0, recording.rank), tables.process.world_size.set(0, 8);
    if (!recording.host.empty()) tables.process.host.set(0, draft.intern(recording.host));
    if (recording.host_and_pid) {
        StringId key = draft.intern(recording.host + ":" + std::to_string(recording.pid));
        tables.process.key.change(0, key), tables.kernel.process.change(0, key);
    }
    describe(draft, recording.device, recording.uuid, recording.name);
    return draft.finish(recording.tool);
}

// Samples of a device, as from nvidia-smi.
Trace samples_of(std::int32_t device, TimeNs start, std::string_view uuid, std::string_view name) {
    Draft draft;
    for (TimeNs time : {start, start + 1000}) {
        SampleTable& samples = draft.tables().sample;
        Row row = samples.add();
        samples.time.set(row, time);
        samples.device.set(row, device);
        samples.metric.set(row, draft.intern("util.gpu"));
        samples.value.set(row, 50);
    }
    describe(draft, device, uuid, name);
    return draft.finish("nvidia-smi");
}

std::vector<DeviceNumbers> numbers_of(const std::vector<std::pair<std::string, Trace>>& traces) {
    std::vector<NamedRecording> recordings;
    for (const auto& [name, trace] : traces) recordings.push_back({name, &trace});
    return number_devices(recordings);
}

// The number of each recording's device.
std::vector<std::int32_t> numbers(const std::vector<Recording>& recordings) {
    std::vector<std::pair<std::string, Trace>> traces;
    for (const Recording& each : recordings) traces.emplace_back(each.file, trace_of(each));
    std::vector<std::int32_t> result;
    std::vector<DeviceNumbers> found = numbers_of(traces);
    for (std::size_t i = 0; i < recordings.size(); ++i) result.push_back(found[i].at(recordings[i].device));
    return result;
}
using Numbers = std::vector<std::int32_t>;

TEST(DeviceNumbers, RanksWithoutUuidHaveAGpuEach) {
    EXPECT_EQ(numbers({{.file = "a", .pid = 7, .rank = 0}, {.file = "b", .pid = 7, .rank = 1}}), (Numbers{0, 1}));
    // Also on one host: each sees its own GPU as 0.
    Recording a{.file = "a", .pid = 7, .rank = 0, .host = "node", .host_and_pid = true};
    Recording b{.file = "b", .pid = 8, .rank = 1, .host = "node", .host_and_pid = true};
    EXPECT_EQ(numbers({a, b}), (Numbers{0, 1}));
    a.rank = b.rank = -1;
    EXPECT_EQ(numbers({a, b}), (Numbers{0, 0}));
    b.host = "other";
    EXPECT_EQ(numbers({a, b}), (Numbers{0, 1}));
}

TEST(DeviceNumbers, ARankRecordedTwiceHasOneGpu) {
    EXPECT_EQ(numbers({{.file = "a", .pid = 7, .rank = 3}, {.file = "b", .pid = 7, .rank = 3, .start = kToday + 500}}),
              (Numbers{0, 0}));
    EXPECT_EQ(numbers({{.file = "a", .pid = 7, .rank = 3}, {.file = "b", .pid = 8, .rank = 3}}), (Numbers{0, 1}));
}

TEST(DeviceNumbers, AUuidIsMoreThanAllElse) {
    Recording a{.file = "a", .pid = 7, .rank = 0, .uuid = "GPU-1"},
        b{.file = "b", .pid = 9, .rank = 1, .uuid = "GPU-1"};
    EXPECT_EQ(numbers({a, b}), (Numbers{0, 0}));
    b.uuid = "GPU-2", b.pid = 7, b.rank = 0;
    EXPECT_EQ(numbers({a, b}), (Numbers{0, 1}));
}

TEST(DeviceNumbers, FilesThatPyTorchNamesAreOfOneProcess) {
    std::string first = "node_77.100.pt.trace.json.gz", second = "node_77.200.pt.trace.json.gz";
    EXPECT_EQ(numbers({{.file = first, .pid = 77}, {.file = second, .pid = 77}}), (Numbers{0, 0}));
    EXPECT_EQ(numbers({{.file = first, .pid = 77}, {.file = "other_77.200.pt.trace.json", .pid = 77}}),
              (Numbers{0, 1}));
    EXPECT_EQ(numbers({{.file = first, .pid = 70}, {.file = second, .pid = 70}}), (Numbers{0, 1}));
    EXPECT_EQ(numbers({{.file = "a.json", .pid = 77}, {.file = "b.json", .pid = 77}}), (Numbers{0, 1}));
}

TEST(DeviceNumbers, TwoToolsOnOneProcessAtOnce) {
    Recording ours{.file = "a", .pid = 77, .uuid = "GPU-1", .host = "node", .tool = "record", .host_and_pid = true};
    Recording torch{.file = "b", .pid = 77, .start = kToday + 50};
    EXPECT_EQ(numbers({ours, torch}), (Numbers{0, 0}));
    EXPECT_EQ(numbers({torch, ours}), (Numbers{0, 0}));
    Recording later = torch, other = torch, third = torch, model = torch;
    later.start += 1000;
    EXPECT_EQ(numbers({ours, later}), (Numbers{0, 1}));
    other.host = "other";
    EXPECT_EQ(numbers({ours, other}), (Numbers{0, 1}));
    third.file = "c";
    EXPECT_EQ(numbers({ours, torch, third}), (Numbers{0, 1, 2}));  // a pid of two containers
    ours.name = "NVIDIA H100", model.name = "NVIDIA H200";
    EXPECT_EQ(numbers({ours, model}), (Numbers{0, 1}));
}

TEST(DeviceNumbers, TheOnlyGpuThatWasSampledIsTheOneThatWorked) {
    auto both = [](TimeNs start, std::string_view name) {
        std::vector<std::pair<std::string, Trace>> traces;
        traces.emplace_back("smi.csv", samples_of(0, start, "GPU-1", name));
        traces.emplace_back("trace", trace_of({.file = "trace", .pid = 7, .name = "NVIDIA H200"}));
        std::vector<DeviceNumbers> found = numbers_of(traces);
        return Numbers{found[0].at(0), found[1].at(0)};
    };
    EXPECT_EQ(both(kToday - 500, "NVIDIA H200"), (Numbers{0, 0}));
    EXPECT_EQ(both(kToday - 500, ""), (Numbers{0, 0}));
    // Otherwise the GPU that worked keeps its number, whatever the other says of itself.
    EXPECT_EQ(both(kToday - 500, "NVIDIA T4"), (Numbers{1, 0}));
    EXPECT_EQ(both(kToday + 500, "NVIDIA H200"), (Numbers{1, 0}));
}

TEST(DeviceNumbers, OrdinalsThatAreFreeStayAndOthersLeaveNoHole) {
    Recording a{.file = "a", .pid = 7}, b{.file = "b", .pid = 8}, c{.file = "c", .device = 1, .pid = 9};
    EXPECT_EQ(numbers({a, b, c}), (Numbers{0, 2, 1}));
    EXPECT_EQ(numbers({c}), (Numbers{1}));
}

TEST(DeviceNumbers, AGpuThatIsOnlyDescribedTakesNoNumber) {
    Draft draft;
    draft.kernel(3, 7, kToday, kToday + 100, "gemm");
    for (std::int32_t device = 0; device < 4; ++device) describe(draft, device, "GPU-" + std::to_string(device), "");
    std::vector<std::pair<std::string, Trace>> traces;
    traces.emplace_back("a", draft.finish());
    traces.emplace_back("b", trace_of({.file = "b", .pid = 7}));
    std::vector<DeviceNumbers> found = numbers_of(traces);
    EXPECT_EQ(found[0], (DeviceNumbers{{1, 1}, {2, 2}, {3, 3}}));
    EXPECT_EQ(found[1], (DeviceNumbers{{0, 0}}));
}

}  // namespace
}  // namespace gpuprof
