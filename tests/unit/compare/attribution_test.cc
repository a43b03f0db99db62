#include "compare/attribution.h"

#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "tests/unit/compare/steps.h"

namespace gpuprof::compare {
namespace {

DurNs sum(const Attribution& found) {
    DurNs sum = 0;
    for (const Contribution& part : found.parts) sum += part.difference();
    return sum;
}

const Contribution& part(const Attribution& found, std::string_view kind, std::string_view name) {
    for (const Contribution& each : found.parts)
        if (each.kind == kind && each.name == name) return each;
    static const Contribution kNone;
    ADD_FAILURE() << "no part " << kind << " " << name;
    return kNone;
}

TEST(Attribution, AddsUpToTheDifferenceToTheNanosecond) {
    auto base = run_of({.steps = 7}, 1);
    auto next = run_of({.steps = 11, .slower = 1.5, .second = "third_kernel"}, 2);
    Attribution found = compare_runs(base, next, {}, {}).attribution;
    EXPECT_EQ(sum(found), found.difference());
    EXPECT_EQ(found.base_ns, base.trace->window().length() / 7);
}

TEST(Attribution, NamesTheKernelThatGrew) {
    auto base = run_of({.noise = 0}, 1);
    auto next = run_of({.noise = 0, .slower = 1.5}, 1);
    Attribution found = compare_runs(base, next, {}, {}).attribution;
    EXPECT_EQ(found.difference(), 150'000);
    EXPECT_EQ(found.parts.front().name, "second_kernel");
    EXPECT_EQ(found.parts.front().difference(), 150'000);
}

TEST(Attribution, NothingDiffersFromItself) {
    auto base = run_of({}, 1);
    auto next = run_of({}, 1);
    Comparison found = compare_runs(base, next, {}, {});
    EXPECT_EQ(found.word(), Word::same);
    EXPECT_EQ(found.attribution.difference(), 0);
    for (const Contribution& each : found.attribution.parts) EXPECT_EQ(each.difference(), 0) << each.name;
}

// stream 7  AAAA........      A 0-40, then B half next to it, a copy behind B and beyond, a fill behind both
// stream 8  ..BBBB......
// stream 9  ...hhhhhh...
TEST(Attribution, AnInstantBelongsToOnePartOnly) {
    Draft draft;
    draft.kernel(0, 7, 0, 40, "a");
    draft.kernel(0, 8, 20, 60, "b");
    draft.memcpy(0, 9, 30, 90, "HtoD", 1);
    draft.memset(0, 10, 80, 100, 1);
    draft.kernel(0, 7, 110, 120, "a");
    auto base = run_of(draft.finish(), {});
    Draft empty;
    empty.kernel(0, 7, 0, 10, "a");
    auto next = run_of(empty.finish(), {});
    Attribution found = compare_runs(base, next, {}, {}).attribution;
    EXPECT_EQ(part(found, "kernel", "a").base_ns, 50);
    EXPECT_EQ(part(found, "kernel", "b").base_ns, 20);
    EXPECT_EQ(part(found, "memcpy", "HtoD").base_ns, 30);
    EXPECT_EQ(part(found, "memset", "device").base_ns, 10);
    EXPECT_EQ(found.base_ns, 120);
    EXPECT_EQ(found.new_ns, 10);
}

TEST(KernelPairs, ByNameThenTemplateThenPosition) {
    auto base = run_of({}, 1);
    auto next = run_of({.first = "void first<double, 8>(double*)", .second = "other"}, 1);
    Comparison found = compare_runs(base, next, {}, {});
    ASSERT_EQ(found.pairs.pairs.size(), 2U);
    EXPECT_EQ(found.pairs.pairs[0].match, Match::stem);
    EXPECT_EQ(found.pairs.pairs[1].match, Match::position);
    EXPECT_EQ(found.pairs.ambiguous, 0U);
}

TEST(KernelPairs, SeveralCandidatesAreCounted) {
    Draft one, two;
    one.kernel(0, 7, 0, 1, "f<1>"), one.kernel(0, 7, 2, 3, "f<2>");
    two.kernel(0, 7, 0, 1, "f<3>"), two.kernel(0, 7, 2, 3, "f<4>"), two.kernel(0, 7, 4, 5, "f<5>");
    auto base = run_of(one.finish(), {});
    auto next = run_of(two.finish(), {});
    Comparison found = compare_runs(base, next, {}, {});
    EXPECT_EQ(found.pairs.ambiguous, 5U);
    for (const KernelPair& pair : found.pairs.pairs) EXPECT_EQ(pair.match, Match::none);
}

TEST(KernelPairs, Stems) {
    EXPECT_EQ(stem_of("void at::native::reduce_kernel<512, 1, Op<float>>(Op<float>)"), "at::native::reduce_kernel");
    EXPECT_EQ(stem_of("void (anonymous namespace)::f<int>(int*)"), "(anonymous namespace)::f");
    EXPECT_EQ(stem_of("triton_poi_fused_add_3"), "triton_poi_fused_add_3");
    EXPECT_EQ(stem_of("std::enable_if<!(true), void>::type ns::gemv<float>(float)"), "ns::gemv");
}

}  // namespace
}  // namespace gpuprof::compare
