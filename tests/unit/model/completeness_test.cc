// What is and is not work that was submitted and not recorded: each case is one timeline of calls and device work.
#include "core/model/completeness.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"
#include "tests/unit/loss_count.h"

namespace gpuprof {
namespace {

struct Made {
    Batch batch;
    TimeNs now = 0;

    // A call that takes 5 us; they follow one another. Returns its row.
    Row call(std::string_view name, std::int64_t correlation, std::string_view thread = "1/1") {
        Row row = batch.tables.api_call.add();
        ApiCallTable& table = batch.tables.api_call;
        table.start.set(row, now += 10'000);
        table.dur.set(row, 5000);
        table.thread.set(row, batch.intern(thread));
        table.process.set(row, batch.intern("1"));
        table.name.set(row, batch.intern(name));
        table.correlation.set(row, correlation);
        return row;
    }
    void shorter(Row call, DurNs dur) { batch.tables.api_call.dur.change(call, dur); }
    void at(Row call, TimeNs start) { batch.tables.api_call.start.change(call, start); }

    // Work of the device, 1 us or more after the newest call began; no two are alike.
    template <class Table>
    Row work(Table& table, std::int64_t correlation) {
        Row row = table.add();
        table.start.set(row, now + 1000 + 100 * static_cast<TimeNs>(row));
        table.dur.set(row, 100);
        table.process.set(row, batch.intern("1"));
        table.correlation.set(row, correlation);
        return row;
    }
    void kernel(std::int64_t correlation, std::string_view name = "k", std::int64_t graph = 0, std::int64_t node = 0) {
        KernelTable& table = batch.tables.kernel;
        Row row = work(table, correlation);
        table.name.set(row, batch.intern(name));
        if (graph > 0) table.graph_id.set(row, graph);
        if (node > 0) table.graph_node_id.set(row, node);
    }
    void copy(std::int64_t correlation) { work(batch.tables.memcpy, correlation); }
    void launched_kernel(std::int64_t correlation) {
        call("cudaLaunchKernel", correlation);
        kernel(correlation);
    }
    Trace finish() {
        TraceBuilder builder({"file", "test", ""});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }
};

TEST(Completeness, WholeWhenEveryLaunchHasItsKernel) {
    Made made;
    for (int id = 1; id <= 5; ++id) made.launched_kernel(id);
    Trace trace = made.finish();
    EXPECT_EQ(trace.completeness().without_work(), 0u);
    EXPECT_EQ(trace.completeness().unknown_because(), "");
    EXPECT_EQ(trace.tables().loss.rows, 0u);
}

TEST(Completeness, CountsLaunchesCopiesAndGraphsWithoutWork) {
    Made made;
    made.launched_kernel(1);
    for (int id = 2; id <= 10; ++id) made.call("cuLaunchKernelEx_ptsz", id);
    made.call("hipMemcpyWithStream", 11);
    made.call("cudaMemsetAsync", 12);
    for (int id = 20; id < 23; ++id) made.call("cudaGraphLaunch", id);
    made.launched_kernel(30);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "launch_without_kernel"), 9);
    EXPECT_EQ(losses(trace, "copy_without_record"), 2);
    EXPECT_EQ(losses(trace, "graph_without_nodes"), 3);
    EXPECT_NEAR(trace.completeness().missing_share(), 14.0 / 16, 1e-9);
}

TEST(Completeness, NothingAtAllIsAllLost) {
    Made made;
    for (int id = 1; id <= 260; ++id) made.call("cudaLaunchKernel", id);
    EXPECT_EQ(losses(made.finish(), "launch_without_kernel"), 260);
}

TEST(Completeness, LaunchesIntoACaptureHaveNoKernel) {
    Made made;
    made.launched_kernel(1);
    made.call("cudaStreamBeginCapture", 2);
    for (int id = 3; id < 9; ++id) made.call("cudaLaunchKernel", id);
    made.call("cudaLaunchKernel", 9, "1/2");  // autograd's thread launches into the same capture
    made.call("cudaStreamEndCapture", 10);
    made.launched_kernel(11);
    Trace trace = made.finish();
    EXPECT_EQ(trace.tables().loss.rows, 0u);
    EXPECT_EQ(trace.completeness().unknown_because(), "");
}

TEST(Completeness, LaunchesIntoAGraphThatIsBeingMade) {
    Made made;  // as XLA does it and XProf records it: no call says that a capture begins
    made.launched_kernel(1);
    made.call("cuGraphCreate (CudaGraph:88)", 2);
    made.call("cudaMemsetAsync", 3);
    made.call("cudaLaunchKernel", 4);
    made.launched_kernel(5);
    made.call("cudaLaunchKernel", 6);  // not in a graph
    made.launched_kernel(7);
    EXPECT_EQ(losses(made.finish(), "launch_without_kernel"), 1);
}

TEST(Completeness, ACaptureThatBeganBeforeTheRecording) {
    Made made;
    for (int id = 3; id < 9; ++id) made.call("cudaLaunchKernel", id);
    made.call("cudaStreamEndCapture", 10);
    made.launched_kernel(11);
    EXPECT_EQ(made.finish().tables().loss.rows, 0u);
}

TEST(Completeness, ACaptureWithoutEndLeavesItOpen) {
    Made made;
    made.launched_kernel(1);
    made.call("cudaStreamBeginCapture", 2);
    made.call("cudaLaunchKernel", 3);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "launch_without_kernel"), 0);
    EXPECT_EQ(trace.completeness().unknown_because(), "the end of a stream capture was not recorded");
}

TEST(Completeness, CallsOfZeroBytesReturnAtOnce) {
    Made made;
    made.launched_kernel(1);
    made.call("cudaMemcpyAsync", 2);
    made.copy(2);
    made.shorter(made.call("cudaMemcpyAsync", 3), 300);  // the one with work took 5 us
    made.shorter(made.call("cudaMemsetAsync", 4), 900);  // none with work to compare with
    made.launched_kernel(5);
    EXPECT_EQ(made.finish().tables().loss.rows, 0u);
}

TEST(Completeness, ACallInsideAnotherCountsWithIt) {
    Made made;
    Row outer = made.call("cudaLaunchKernel", 1), inner = made.call("cuLaunchKernel", 2);
    made.at(inner, 12'000);
    made.shorter(inner, 1000);
    made.kernel(2);
    (void)outer;
    Trace trace = made.finish();
    EXPECT_EQ(trace.tables().loss.rows, 0u);
    EXPECT_EQ(trace.completeness()[Submission::kernel].calls, 1u);
}

TEST(Completeness, ACallThatFailedSubmittedNothing) {
    Made made;
    made.launched_kernel(1);
    Row failed = made.call("cudaLaunchKernel", 2);
    made.batch.tables.api_call.error.set(failed, 9);
    made.launched_kernel(3);
    EXPECT_EQ(made.finish().tables().loss.rows, 0u);
}

TEST(Completeness, FewLaunchesAtTheEndRanAfterTheRecording) {
    Made made;
    for (int id = 1; id <= 200; ++id) made.launched_kernel(id);
    made.call("cudaLaunchKernel", 201);
    made.call("cudaLaunchKernel", 202);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "work_at_edge"), 2);
    EXPECT_EQ(losses(trace, "launch_without_kernel"), 0);
}

TEST(Completeness, LaunchesThatTheDeviceCouldNotBeginAreNotLost) {
    Made made;
    made.launched_kernel(1);
    made.batch.tables.kernel.dur.change(0, 1'000'000);  // until after the last launch
    for (int id = 2; id <= 37; ++id) made.call("cudaLaunchKernel", id);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "work_at_edge"), 36);
    EXPECT_EQ(losses(trace, "launch_without_kernel"), 0);
    EXPECT_NE(trace.completeness().unknown_because(), "");  // and whether they ran cannot be known
}

TEST(Completeness, ManyLaunchesAtTheEndWereLost) {
    Made made;
    made.launched_kernel(1);
    for (int id = 2; id <= 37; ++id) made.call("cudaLaunchKernel", id);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "work_at_edge"), 0);
    EXPECT_EQ(losses(trace, "launch_without_kernel"), 36);
}

TEST(Completeness, WorkWithoutItsCall) {
    Made made;
    made.kernel(3);  // submitted before the calls of the process were recorded
    made.launched_kernel(5);
    made.kernel(6);  // its call is missing between two others
    made.launched_kernel(7);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "unmatched_launch"), 1);
    EXPECT_EQ(losses(trace, "work_without_call"), 1);
}

TEST(Completeness, NodesThatOtherLaunchesOfTheGraphExecuted) {
    Made made;
    for (int id = 1; id <= 3; ++id) {
        made.call("cudaGraphLaunch", id);
        for (int node = 1; node <= (id == 2 ? 2 : 5); ++node) made.kernel(id, "k", 7, node);
    }
    made.launched_kernel(10);
    EXPECT_EQ(losses(made.finish(), "missing_graph_node"), 3);
}

TEST(Completeness, BodiesOfConditionalNodesRunAsOftenAsTheyMust) {
    Made made;
    for (int id = 1; id <= 3; ++id) {
        made.call("cudaGraphLaunch", id);
        for (int turn = 0; turn < id; ++turn) made.kernel(id, "k", 7, 1);
    }
    made.launched_kernel(10);
    Trace trace = made.finish();
    EXPECT_EQ(losses(trace, "missing_graph_node"), 0);
    EXPECT_EQ(trace.completeness().unknown_because(), "the nodes of 3 graph launches cannot be checked");
}

TEST(Completeness, GraphsWithoutIdsAreComparedByTheirKernels) {
    auto unchecked = [](bool drop) {
        Made made;
        for (int id = 1; id <= 4; ++id) {
            made.call("cudaGraphLaunch", id);
            for (const char* name : {"a", "b", "c"})
                if (!drop || id != 2 || *name != 'b') made.kernel(id, name);
        }
        return made.finish().completeness().graph_launches_unchecked;
    };
    EXPECT_EQ(unchecked(false), 0u);
    EXPECT_EQ(unchecked(true), 1u);
}

TEST(Completeness, CannotBeKnownWithoutLaunchesOrIds) {
    Made kernels;
    kernels.kernel(1);
    EXPECT_EQ(kernels.finish().completeness().unknown_because(), "no kernel launches were recorded");
    EXPECT_EQ(Made().finish().completeness().unknown_because(), "neither kernel launches nor device work was recorded");
}

}  // namespace
}  // namespace gpuprof
