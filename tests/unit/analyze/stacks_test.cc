// `stacks`, and what sampled stacks say of idle gaps: counted by hand.
#include <gtest/gtest.h>

#include "analyze/facts/host/stack_samples.h"
#include "analyze/rules/rule_list.h"
#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void sample(Draft& draft, std::string_view thread, TimeNs time, std::string_view stack, int gil = -1) {
    StackSampleTable& table = draft.tables().stack_sample;
    Row row = table.add();
    table.time.set(row, time);
    table.thread.set(row, draft.thread_key(thread));
    table.stack.set(row, draft.intern(stack));
    if (gil >= 0) table.holds_gil.set(row, gil);
}

TEST(PythonFrames, AreFunctionFileAndLine) {
    PythonFrame frame = parse_frame("C.f (a (b).py:12)");
    EXPECT_EQ(frame.function, "C.f (a");  // the last bracket begins the place
    frame = parse_frame("f (<frozen x.y>:1007)");
    EXPECT_EQ(frame.function, "f");
    EXPECT_EQ(frame.file, "<frozen x.y>");
    EXPECT_EQ(frame.line, 1007);
    EXPECT_EQ(parse_frame("f (a.py)").line, -1);
    EXPECT_EQ(parse_frame("f (a.py:x)").file, "a.py:x");
    EXPECT_EQ(parse_frame("").function, "");
    EXPECT_EQ(parse_frame("odd").function, "odd");
    EXPECT_EQ(innermost_frame("a;b;c"), "c");
    EXPECT_EQ(innermost_frame(""), "");
}

TEST(Stacks, CountsSelfAndTotalOncePerSample) {
    Draft draft;
    sample(draft, "main", 1, "run (a.py:1);f (a.py:5);f (a.py:5);g (b.py:9)", 1);
    sample(draft, "main", 2, "run (a.py:1);f (a.py:6)", 0);
    sample(draft, "main", 3, "run (a.py:1);f (a.py:6)", 1);
    sample(draft, "worker", 1, "run (a.py:1)");
    Trace trace = draft.finish();
    ReadTable table(trace, "stacks");
    ASSERT_EQ(table.rows(), 4u);
    EXPECT_EQ(table.text(0, "thread"), "main");
    EXPECT_EQ(table.text(0, "function"), "f");
    EXPECT_EQ(table.integer(0, "self_samples"), 2);
    EXPECT_EQ(table.integer(0, "total_samples"), 3);
    EXPECT_DOUBLE_EQ(table.real(0, "total_pct"), 100);
    EXPECT_EQ(table.integer(0, "line"), 6);
    EXPECT_DOUBLE_EQ(table.real(0, "gil_pct"), 50);
    EXPECT_EQ(table.text(1, "function"), "g");
    EXPECT_EQ(table.text(2, "function"), "run");
    EXPECT_EQ(table.integer(2, "self_samples"), 0);
    EXPECT_EQ(table.text(3, "thread"), "worker");
    EXPECT_TRUE(table.absent(3, "gil_pct"));
}

// The device waits for the loader from 10 us to 90 us; only what the submitting thread did in that time counts.
TEST(Stacks, NameWhatPythonDidInIdleGaps) {
    Draft draft;
    draft.call("main", 0, 2'000, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 2'000, 10'000, "k", 1);
    draft.range("main", 9'000, 88'000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    draft.call("main", 88'000, 89'000, "cudaLaunchKernel", 2);
    draft.kernel(0, 7, 90'000, 100'000, "k", 2);
    for (TimeNs time = 20'000; time < 80'000; time += 10'000)
        sample(draft, "main", time, "run (a.py:1);augment (data.py:31)");
    sample(draft, "main", 80'000, "run (a.py:1);read (io.py:7)");
    sample(draft, "main", 5'000, "run (a.py:1);busy (a.py:2)");         // the device works
    sample(draft, "other", 30'000, "run (a.py:1);elsewhere (a.py:3)");  // not the thread it waits for
    sample(draft, "main", INT64_MAX, "late (a.py:1)");
    Trace trace = draft.finish();
    ReadTable idle(trace, "idle");
    std::size_t row = idle.find("cause", "input pipeline");
    EXPECT_EQ(idle.text(row, "python"), "6 of 7 samples in augment (data.py:31)");
    ReadTable findings(trace, "findings");
    std::size_t finding = findings.find("id", "input-pipeline");
    EXPECT_NE(
        findings.text(finding, "evidence").find("Sampled during this time: 6 of 7 samples in augment (data.py:31)"),
        std::string::npos);
}

TEST(PythonCalls, AreFunctionFileAndLineOfTheDefinition) {
    PythonFrame frame = parse_python_call("torch/nn/modules/module.py(1783): _call_impl");
    EXPECT_EQ(frame.function, "_call_impl");
    EXPECT_EQ(frame.file, "torch/nn/modules/module.py");
    EXPECT_EQ(frame.line, 1783);
    EXPECT_EQ(parse_python_call("a (b): c.py(7): <lambda>").file, "a (b): c.py");
    EXPECT_EQ(parse_python_call("<frozen os>(779): getenv").line, 779);
    EXPECT_EQ(parse_python_call("<built-in method add of Tensor object at 0x7fb0>").function,
              "<built-in method add of Tensor object");
    EXPECT_EQ(parse_python_call("nn.Module: Linear_0").function, "nn.Module: Linear_0");
    EXPECT_EQ(parse_python_call("(5): f").function, "(5): f");
    EXPECT_EQ(parse_python_call("").function, "");
    EXPECT_EQ(to_text(parse_python_call("a.py(3): f")), "f (a.py:3)");
}

// load 10 to 90 us, in it read 20 to 60 twice in itself, and a builtin of 5 us in that; the device waits from 10 to 90.
void draw_calls(Draft& draft) {
    draft.call("main", 0, 2'000, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 2'000, 10'000, "k", 1);
    draft.range("main", 9'000, 88'000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    draft.python("main", 10'000, 90'000, "a.py(1): load");
    draft.python("main", 20'000, 60'000, "io.py(7): read");
    draft.python("main", 25'000, 60'000, "io.py(7): read");
    draft.python("main", 30'000, 35'000, "<built-in method read of File object at 0x7f00>");
    draft.python("other", 10'000, 90'000, "b.py(1): elsewhere");
    draft.call("main", 88'000, 89'000, "cudaLaunchKernel", 2);
    draft.kernel(0, 7, 90'000, 100'000, "k", 2);
}

TEST(PythonCalls, StandInForSamplesInStacks) {
    Draft draft;
    draw_calls(draft);
    Trace trace = draft.finish();
    ReadTable table(trace, "stacks");
    ASSERT_EQ(table.rows(), 4u);
    std::size_t read = table.find("function", "read");
    EXPECT_EQ(table.integer(read, "self_ns"), 35'000);
    EXPECT_EQ(table.integer(read, "total_ns"), 40'000);  // once, though it calls itself
    EXPECT_DOUBLE_EQ(table.real(read, "total_pct"), 50);
    EXPECT_EQ(table.integer(read, "line"), 7);
    EXPECT_TRUE(table.absent(read, "self_samples"));
    EXPECT_TRUE(table.absent(read, "total_samples"));
    std::size_t load = table.find("function", "load");
    EXPECT_EQ(table.integer(load, "self_ns"), 40'000);
    EXPECT_EQ(table.integer(load, "total_ns"), 80'000);
    std::size_t builtin = table.find("function", "<built-in method read of File object");
    EXPECT_EQ(table.integer(builtin, "self_ns"), 5'000);
}

// The loader's part of the gap is 10 to 88 us: 40 us in read, the builtin of it included, and 38 us in load itself.
TEST(PythonCalls, NameWhatPythonDidInIdleGaps) {
    Draft draft;
    draw_calls(draft);
    Trace trace = draft.finish();
    ReadTable idle(trace, "idle");
    std::string said = "40.0 us of 78.0 us of Python calls in read (io.py:7)";
    EXPECT_EQ(idle.text(idle.find("cause", "input pipeline"), "python"), said);
    ReadTable findings(trace, "findings");
    EXPECT_NE(findings.text(findings.find("id", "input-pipeline"), "evidence").find("Python during this time: " + said),
              std::string::npos);
}

TEST(PythonCalls, GiveWayToSamples) {
    Draft draft;
    draw_calls(draft);
    sample(draft, "main", 20'000, "run (a.py:1);augment (data.py:31)");
    Trace trace = draft.finish();
    ReadTable idle(trace, "idle");
    EXPECT_EQ(idle.text(idle.find("cause", "input pipeline"), "python"), "1 of 1 samples in augment (data.py:31)");
    EXPECT_EQ(ReadTable(trace, "stacks").rows(), 2u);
}

}  // namespace
}  // namespace gpuprof
