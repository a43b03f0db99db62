// Stacks of launches as texts of calls.
#include "io/importers/spool/spool_launch_stacks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/boot_id.h"
#include "io/importers/spool/native_names.h"

namespace gpuprof {
namespace {

std::string text_of(std::string_view stack) {
    NativeNames nobody(CodeFiles::open, "", 0);
    return launch_stack_text(stack, nobody);
}

TEST(LaunchStackText, NativeFramesAreInnermostFirstAndLeaveOutWhatLaunches) {
    EXPECT_EQ(text_of("\n/lib/libgpuprof_inject.so+0x10\n+0x20\n/lib/libcupti.so.13+0x30\n/lib/libcuda.so.1+0x40\n"
                      "/a/libtrain.so+0x50\n+0x60\n/a/train+0x70\n/lib/libc.so.6+0x80"),
              "0x70 (train);0x60 (libtrain.so);0x50 (libtrain.so)");
}

TEST(LaunchStackText, BelowPythonOnlyWhatTheInterpreterCalled) {
    EXPECT_EQ(
        text_of("main (a.py:1);step (a.py:9)\n/lib/libcuda.so.1+0x40\n/a/libtorch.so+0x50\n/usr/bin/python3.11+0x60\n"
                "/a/libtorch.so+0x70\n/usr/bin/python3.11+0x80\n/lib/libc.so.6+0x90"),
        "main (a.py:1);step (a.py:9);0x50 (libtorch.so)");
    EXPECT_EQ(text_of("main (a.py:1)\n/lib/libcuda.so.1+0x40\n/opt/libpython3.14t.so+0x50"), "main (a.py:1)");
    EXPECT_EQ(text_of("main (a.py:1)"), "main (a.py:1)");
}

TEST(LaunchStackText, CodeInNoFileAndDamage) {
    EXPECT_EQ(text_of("\n+0x7f0010\n/a/train+0x70"), "0x70 (train);0x7f0010");
    EXPECT_EQ(text_of("\n/a/b+0x.so+0x10\nrest that was cut"), "0x10 (b+0x.so)");
    EXPECT_EQ(text_of("\n/a/train+0xzz"), "");
    EXPECT_EQ(text_of("\n\n"), "");
    EXPECT_EQ(text_of(""), "");
}

spool::HostEvent event(std::uint64_t id, std::uint64_t correlation = 0) {
    spool::HostEvent made{};
    made.range = id, made.domain = correlation;
    return made;
}

TEST(SpoolLaunchStacks, EachCallHasTheStackOfItsCorrelationId) {
    Batch batch;
    for (std::int64_t correlation : {7, 8, 9, 10}) {
        Row row = batch.tables.api_call.add();
        batch.tables.api_call.correlation.set(row, correlation);
    }
    SpoolLaunchStacks stacks;
    stacks.add_launch(event(1, 8));  // rings deliver launches before names, too
    stacks.add_stack(event(1), "a (a.py:1)");
    stacks.add_stack(event(2), "b (a.py:2)");
    stacks.add_launch(event(2, 7));
    stacks.add_launch(event(3, 10));  // its name was lost
    stacks.finish(batch, 1, NativeNames(CodeFiles::open, "", 0));
    const Column<StringId>& column = batch.tables.api_call.stack;
    EXPECT_FALSE(column.has(0));  // of an earlier process
    ASSERT_TRUE(column.has(1));
    EXPECT_EQ(batch.strings[column[1]], "a (a.py:1)");
    EXPECT_EQ(column.size(), 2u);
}

// Others than `record` may not open what a recording names.
TEST(NativeNames, AreLookedUpOnlyIfThatIsAllowed) {
    char boot[kBootIdSize];
    std::string_view own(boot, read_boot_id(boot));
    if (own.empty()) GTEST_SKIP() << "this system has no boot id";
    std::string program = std::filesystem::canonical("/proc/self/exe").string();
    NativeNames closed(CodeFiles::closed, own, INT64_MAX), open(CodeFiles::open, own, INT64_MAX);
    bool any = false;
    for (std::uint64_t address = 0; address < 64u << 20 && !any; address += 1 << 14) {
        EXPECT_EQ(closed.of(program, address).function, "");
        any = !open.of(program, address).function.empty();
    }
    EXPECT_TRUE(any);
    EXPECT_EQ(open.of("/dev/zero", 1).function, "");
}

TEST(NativeNames, AreOfThisBootAndOfFilesThatDidNotChange) {
    NativeNames elsewhere(CodeFiles::open, "00000000-0000-0000-0000-000000000000", INT64_MAX);
    EXPECT_EQ(elsewhere.of("/proc/self/exe", 1).function, "");
    NativeNames::Name name = elsewhere.of("/a/b/c.so", 1);
    EXPECT_EQ(name.module, "c.so");
    EXPECT_EQ(NativeNames::text(name, 255), "0xff (c.so)");
}

}  // namespace
}  // namespace gpuprof
