// Replays of programs that a machine without noise ran: with a change, each step must be complete when it is complete in the program
// with the change made. This tests the code of the replay, and nothing about real machines.
#include <gtest/gtest.h>

#include <cstdlib>

#include "analyze/facts/facts.h"
#include "analyze/replay/changes.h"
#include "tests/unit/replay/programs.h"

namespace gpuprof::test {
namespace {

constexpr DurNs kTolerance = 1'000;

struct Experiment {
    const char* name;
    Altered altered;
    const char* edits;
};

const Experiment kExperiments[] = {
    {"input is ready", {.input = 0}, "input"},
    {"input half", {.input = 0.5}, "input=0.5"},
    {"no host code", {.host = 0}, "host-code"},
    {"no waits", {.waits = false}, "waits"},
    {"pinned", {.pageable = false}, "pinned-copies"},
    {"no allocation", {.allocations = false}, "allocation"},
    {"kernels 2x faster", {.kernels = 0.5}, "kernel:.=0.5"},
    {"kernels half as fast", {.kernels = 2}, "kernel:.=2"},
    {"communication", {.collectives = 0}, "communication"},
    {"input and pinned", {.input = 0, .pageable = false}, "input; pinned-copies"},
    {"input and faster kernels", {.input = 0, .kernels = 0.5}, "input; kernel:.=0.5"},
    {"no waits and faster kernels", {.kernels = 0.5, .waits = false}, "waits; kernel:.=0.5"},
    {"no allocation and faster kernels", {.kernels = 0.5, .allocations = false}, "allocation; kernel:.=0.5"},
};

struct Program {
    const char* name;
    void (*run)(Machine&);
    bool sync_rows = true;
};

const Program kPrograms[] = {
    {"input_bound", input_bound},
    {"autograd", autograd},
    {"deep_queue", deep_queue},
    {"many_items", many_items},
    {"one_buffer", one_buffer},
    {"one_buffer_inferred", one_buffer, false},
    {"two_buffers", two_buffers},
    {"late_results", late_results},
    {"all_reduce", all_reduce},
    {"pageable_copies", pageable_copies},
    {"copy_behind_kernels", copy_behind_kernels},
    {"churn", churn},
};

class Golden : public testing::TestWithParam<Program> {
protected:
    Trace record() const {
        Machine machine({}, GetParam().sync_rows);
        GetParam().run(machine);
        return machine.recording();
    }
    std::vector<TimeNs> truth(const Altered& altered) const {
        Machine machine(altered, GetParam().sync_rows);
        GetParam().run(machine);
        return machine.completions();
    }
};

std::vector<TimeNs> replayed(const Facts& facts, const std::vector<Edit>& edits, bool residuals = true) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario scenario(graph);
    scenario.residuals = residuals;
    for (const Edit& edit : edits) apply(edit, facts, graph, scenario);
    return completions(graph, scenario, replay_times(graph, scenario, facts.trace()));
}

void expect_close(const std::vector<TimeNs>& found, const std::vector<TimeNs>& wanted, const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_LE(std::abs(found[i] - wanted[i]), kTolerance)
            << what << ", step " << i << ": " << found[i] << " ns, and " << wanted[i] << " ns in truth";
}

TEST_P(Golden, IsRepeatedExactly) {
    Trace trace = record();
    Facts facts(trace, {});
    EXPECT_EQ(replayed(facts, {}), truth({}));
    expect_close(replayed(facts, {}, false), truth({}), "without residuals");
}

TEST_P(Golden, IsPredictedExactly) {
    Trace trace = record();
    Facts facts(trace, {});
    for (const Experiment& each : kExperiments)
        expect_close(replayed(facts, parse_edits(each.edits).value()), truth(each.altered), each.name);
}

// Without streams and events in the recording, the order of ops contradicts the real edge.
TEST(ReplayOfEvents, IsWrongWhereTheyAreInferredAndRightWhereTheyAreRecorded) {
    Altered altered{.kernels = 2};
    std::vector<Edit> edits = parse_edits("kernel:.=2").value();
    Machine changed(altered);
    two_buffers(changed);
    TimeNs truth = changed.completions().back();
    for (bool sync_rows : {true, false}) {
        Machine machine({}, sync_rows);
        two_buffers(machine);
        Trace trace = machine.recording();
        Facts facts(trace, {});
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        TimeNs error = std::abs(replayed(facts, edits).back() - truth);
        EXPECT_EQ(graph.recorded_events > 0, sync_rows);
        EXPECT_EQ(error > kTolerance, !sync_rows) << error << " ns";
        EXPECT_TRUE(!sync_rows || graph.inferred_events + graph.unsure_events == 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Replay, Golden, testing::ValuesIn(kPrograms),
                         [](const auto& program) { return std::string(program.param.name); });

}  // namespace
}  // namespace gpuprof::test
