// Every analysis on traces no recorder writes: extreme times, absent columns, colliding ids, overlaps without nesting.
// Nothing is expected of the answers but that they come, twice the same; sanitizer builds check the arithmetic.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "present/answer/analyses.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

class Hostile {
public:
    explicit Hostile(unsigned seed) : random_(seed), extreme_(seed % 2 == 0) {}

    Trace make() {
        for (int i = 0; i < 60; ++i) {
            std::string thread = pick({"main", "worker", "autograd"}), name = pick(kNames);
            TimeNs start = time(), end = time();
            if (end < start) std::swap(start, end);
            switch (random_() % 9) {
                case 0: draft_.range(thread, start, end, name, id()); break;
                case 1: draft_.op(thread, start, end, name, id()); break;
                case 2: draft_.call(thread, start, end, pick(kCalls), id(), id()); break;
                case 3: draft_.kernel(device(), id(), start, end, name, id(), id()); break;
                case 4: draft_.memcpy(device(), id(), start, end, "HtoD", number(), id(), id()); break;
                case 5: draft_.memset(device(), id(), start, end, number()); break;
                case 6: draft_.overhead(start, end, "overhead"); break;
                case 7: draft_.python(thread, start, end, name); break;
                case 8: rest(); break;
            }
        }
        return draft_.finish();
    }

private:
    static constexpr std::initializer_list<const char*> kNames = {"ProfilerStep#1",
                                                                  "ProfilerStep#2",
                                                                  "train_step",
                                                                  "aten::mm",
                                                                  "gemm",
                                                                  "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                                                  ""};
    static constexpr std::initializer_list<const char*> kCalls = {"cudaLaunchKernel", "cudaStreamSynchronize",
                                                                  "cudaMalloc", "cudaMemcpyAsync", "cudaGraphLaunch"};

    const char* pick(std::initializer_list<const char*> from) { return from.begin()[random_() % from.size()]; }
    TimeNs time() {
        if (!extreme_) return static_cast<TimeNs>(random_() % 40);  // many ties and empty spans
        constexpr TimeNs kBroken = (TimeNs{1} << 61) - 1, kFar = (TimeNs{1} << 50) - 1;
        constexpr TimeNs kTimes[] = {-kBroken, -kFar, -kFar / 2, -1, 0, 1, kFar / 2, kFar, kBroken};
        return kTimes[random_() % std::size(kTimes)];
    }
    std::int64_t number() {
        constexpr std::int64_t kNumbers[] = {INT64_MIN, -1, 0, 1, 1 << 20, INT64_MAX};
        return kNumbers[random_() % std::size(kNumbers)];
    }
    std::int64_t id() {
        constexpr std::int64_t kIds[] = {Draft::kNone, 0, 1, 2, 3, INT64_MAX, INT64_MIN};
        return kIds[random_() % std::size(kIds)];
    }
    std::int32_t device() { return static_cast<std::int32_t>(random_() % 3); }

    // A row without most of its columns, an allocator event, a collective's record, a device.
    void rest() {
        Tables& tables = draft_.tables();
        Row kernel = tables.kernel.add();
        tables.kernel.start.set(kernel, time());
        tables.kernel.dur.set(kernel, 5);
        Row call = tables.api_call.add();
        tables.api_call.start.set(call, time());
        tables.api_call.dur.set(call, 5);
        Row event = tables.memory_event.add();
        tables.memory_event.time.set(event, time());
        tables.memory_event.device_type.set(event, 1);
        tables.memory_event.device.set(event, device());
        tables.memory_event.address.set(event, id());
        tables.memory_event.bytes.set(event, number());
        if (random_() % 2 != 0) tables.memory_event.total_allocated.set(event, number());
        if (random_() % 2 != 0) tables.memory_event.total_reserved.set(event, number());
        if (random_() % 2 != 0) tables.memory_event.category.set(event, draft_.intern(pick({"device", "managed", ""})));
        if (random_() % 2 != 0) tables.memory_event.thread.set(event, draft_.thread_key("main"));
        Row reading = tables.sample.add();
        tables.sample.time.set(reading, random_() % 2 != 0 ? time() : number());
        tables.sample.device.set(reading, device());
        tables.sample.metric.set(reading, draft_.intern(pick({"mem.used", "mem.used", "mem.total", "util.gpu"})));
        tables.sample.value.set(reading, static_cast<double>(number()));
        if (random_() % 2 != 0) tables.sample.pid.set(reading, id());
        Row record = tables.collective.add();
        tables.collective.correlation.set(record, id());
        tables.collective.name.set(record, draft_.intern("allreduce"));
        tables.collective.type.set(record, draft_.intern("Float"));
        tables.collective.in_elements.set(record, number());
        tables.collective.group_size.set(record, number());
        Row use = tables.cpu_sample.add();
        tables.cpu_sample.time.set(use, number());
        tables.cpu_sample.dur.set(use, number());
        tables.cpu_sample.process.set(use, draft_.intern(pick(kNames)));
        tables.cpu_sample.user_ns.set(use, number());
        Row stack = tables.stack_sample.add();
        tables.stack_sample.time.set(stack, random_() % 2 != 0 ? time() : number());
        tables.stack_sample.thread.set(stack, draft_.intern(pick({"main", "worker"})));
        tables.stack_sample.stack.set(stack, draft_.intern(pick({"", ";", "f (a:1);g (b:)", "()", " ("})));
        Row known = tables.device.add();
        tables.device.device.set(known, device());
        tables.device.sms.set(known, static_cast<std::int32_t>(random_() % 200));
    }

    std::mt19937 random_;
    bool extreme_;
    Draft draft_;
};

std::string answer(const Trace& trace, const Analysis& analysis) {
    Facts facts(trace, Options{});
    Result<ResultTable> result = analysis.run(facts);
    if (!result.ok()) return result.error().message;
    std::string text;
    for (std::size_t row = 0; row < result->rows(); ++row)
        for (std::size_t column = 0; column < result->columns().size(); ++column) {
            Cell cell = result->cell(row, column);
            if (auto* integer = std::get_if<std::int64_t>(&cell)) text += std::to_string(*integer);
            if (auto* real = std::get_if<double>(&cell)) text += std::to_string(*real);
            if (auto* words = std::get_if<std::string_view>(&cell)) text += *words;
            text += '\n';
        }
    return text;
}

TEST(EveryAnalysis, AnswersHostileTraces) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        Trace trace = Hostile(seed).make();
        for (const Analysis* analysis : analyses())
            EXPECT_EQ(answer(trace, *analysis), answer(trace, *analysis)) << analysis->name << ", seed " << seed;
    }
}

TEST(EveryAnalysis, AnswersAnEmptyTrace) {
    Trace trace = Draft().finish();
    for (const Analysis* analysis : analyses()) answer(trace, *analysis);
}

}  // namespace
}  // namespace gpuprof
