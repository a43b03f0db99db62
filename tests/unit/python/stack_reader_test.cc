// Stacks read from made-up processes: what must come out, and that nothing bad does, whatever the memory holds.
#include "collect/python/stack_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "collect/python/line_table.h"
#include "tests/unit/python/simulated_python.h"

namespace gpuprof::python {
namespace {

using namespace std::literals;

// Instructions 0-1 on the first line, 2-3 two lines on: as pairs of lnotab, of ranges, and as one-line locations.
std::string lines_of(LineTable kind) {
    if (kind == LineTable::lnotab) return "\x04\x02"s;
    if (kind == LineTable::ranges) return "\x04\x00\x04\x02"s;
    return {static_cast<char>(128 | 10 << 3 | 1), 0, 0, static_cast<char>(128 | 12 << 3 | 1), 0, 0};
}

struct Small : MadeUpPython {
    explicit Small(Layout of) : MadeUpPython(of) {
        std::string lines = lines_of(layout.lines);
        outer = code(text(U"main"), text(U"/a/x/train.py"), 10, lines);
        inner = code(text(U"gr\u00f6\u00dfe", 1, false), text(U"/a/\u4e00/__init__.py", 2, false), 20, lines);
        root = frame(outer, at(2), 0);
        leaf = frame(inner, at(1), root);
        first = thread(leaf, 77, 0);
    }
    std::int64_t at(std::int64_t instruction) const {
        return layout.lines == LineTable::lnotab ? 2 * instruction : instruction;
    }
    Address outer, inner, root, leaf, first;
};

class EveryVersion : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EveryVersion, ReadsFramesLinesAndThreads) {
    Small python(*layout_of(GetParam()));
    python.thread(0, 78, python.first);  // runs no Python code
    StackReader reader(python, python.layout, python.marks);
    for (int again = 0; again < 2; ++again) {
        const std::vector<ThreadStack>& stacks = reader.read();
        ASSERT_EQ(stacks.size(), 1u);
        EXPECT_EQ(stacks[0].frames, "main (train.py:12);gr\u00f6\u00dfe (\u4e00/__init__.py:20)");
        EXPECT_EQ(stacks[0].depth, 2);
        EXPECT_EQ(stacks[0].native_id, python.layout.native_thread_id != kNone ? 77u : 0u);
        EXPECT_EQ(stacks[0].pthread_id, 78u);
    }
    EXPECT_EQ(reader.counts().read, 2u);
    EXPECT_EQ(reader.counts().torn, 0u);
}

TEST_P(EveryVersion, NoticesThatAnAddressHasAnotherCodeObjectNow) {
    Small python(*layout_of(GetParam()));
    StackReader reader(python, python.layout, python.marks);
    reader.read();
    python.put(python.inner + python.layout.code_name, python.text(U"other"));
    EXPECT_EQ(reader.read().at(0).frames, "main (train.py:12);other (\u4e00/__init__.py:20)");
}

TEST_P(EveryVersion, CutsDeepStacksAndSaysSo) {
    Small python(*layout_of(GetParam()));
    Address frame = python.leaf;
    for (int i = 0; i < StackReader::kMaxFrames; ++i) frame = python.frame(python.inner, python.at(0), frame);
    python.thread(frame, 80, 0);
    StackReader reader(python, python.layout, python.marks);
    const std::vector<ThreadStack>& stacks = reader.read();
    ASSERT_EQ(stacks.size(), 1u);
    EXPECT_TRUE(stacks[0].cut);
    EXPECT_EQ(stacks[0].depth, StackReader::kMaxFrames);
    EXPECT_EQ(reader.counts().cut, 1u);
}

TEST_P(EveryVersion, LeavesOutStacksThatDoNotFitTogether) {
    using Break = void (*)(Small&);
    Break breaks[] = {
        [](Small& p) { p.put(p.root + p.layout.frame_previous, p.leaf); },           // a circle
        [](Small& p) { p.put(p.leaf + p.layout.frame_previous, p.leaf); },           // a short one
        [](Small& p) { p.put(p.root + p.layout.frame_previous, Address{0xdead}); },  // nowhere
        [](Small& p) { p.put(p.leaf + p.layout.frame_code, p.marks.runtime); },      // no code object
        [](Small& p) { p.put(p.leaf + p.layout.frame_code, Address{0}); },
        [](Small& p) { p.put(p.inner + p.layout.code_name, p.inner); },  // no text
        [](Small& p) { p.put(p.inner + p.layout.code_lines, ~Address{0}); },
        [](Small& p) { p.put(p.inner + p.layout.code_filename, p.text(std::u32string(5000, U'x'))); },
    };
    for (Break make : breaks) {
        Small python(*layout_of(GetParam()));
        make(python);
        StackReader reader(python, python.layout, python.marks);
        EXPECT_TRUE(reader.read().empty());
        EXPECT_EQ(reader.counts().torn, 1u);
    }
}

TEST_P(EveryVersion, EndsOnCirclesOfThreadsAndInterpreters) {
    Small python(*layout_of(GetParam()));
    python.put(python.first + python.layout.thread_next, python.first);
    python.put(python.interpreter + python.layout.interpreter_next, python.interpreter);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_LE(reader.read().size(), std::size_t{StackReader::kMaxThreads});
}

// Every byte of the process is replaced by chance, many times: the answer may be anything, and comes.
TEST_P(EveryVersion, SurvivesAnyMemory) {
    std::mt19937 random(GetParam());
    for (int round = 0; round < 300; ++round) {
        Small python(*layout_of(GetParam()));
        std::vector<Address> known;
        for (auto& [address, bytes] : python.pieces()) known.push_back(address);
        for (auto& [address, bytes] : python.pieces())
            for (std::size_t at = 0; at + 8 <= bytes.size() && bytes.size() < 1000; at += 8)
                if (random() % 20 == 0) {
                    Address value = random() % 2 != 0 ? known[random() % known.size()] + random() % 64
                                                      : Address{random()} << (random() % 33);
                    std::memcpy(bytes.data() + at, &value, sizeof value);
                }
        RuntimeAddresses marks = round % 2 != 0 ? python.marks : RuntimeAddresses{.runtime = python.marks.runtime};
        StackReader reader(python, python.layout, marks);
        reader.read();
    }
}

INSTANTIATE_TEST_SUITE_P(PythonStacks, EveryVersion, testing::Values(9, 10, 11, 12));

TEST(PythonStacks, CFramesAreNoFunctions) {
    Small python(*layout_of(12));
    Address shim = python.make(python.layout.frame_size);
    python.put(shim + python.layout.frame_previous, python.root);
    python.put(shim + python.layout.frame_owner, kOwnedByC);
    python.put(python.leaf + python.layout.frame_previous, shim);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_EQ(reader.read().at(0).depth, 2);
}

TEST(PythonStacks, TheLockHolderIsKnown) {
    Small python(*layout_of(11));
    python.put(python.marks.runtime + python.layout.runtime_gil_holder, python.first);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_EQ(reader.read().at(0).holds_gil, true);
    python.put(python.marks.runtime + python.layout.runtime_gil_holder, Address{0});
    EXPECT_EQ(reader.read().at(0).holds_gil, false);
}

TEST(PythonLayout, RefusesWhatDoesNotDescribeItself) {
    MadeUpPython python(*layout_of(12));
    EXPECT_FALSE(read_layout(python, python.marks.runtime));
    EXPECT_FALSE(read_layout(python, 0));
    std::uint64_t cookie = 0;
    std::memcpy(&cookie, "xdebugpy", 8);
    python.put(python.marks.runtime, cookie);
    python.put(python.marks.runtime + 8, std::uint64_t{0x030d00f0});
    EXPECT_TRUE(read_layout(python, python.marks.runtime));
    python.put(python.marks.runtime + 8 * 28, std::uint64_t{1} << 40);
    EXPECT_FALSE(read_layout(python, python.marks.runtime));
    EXPECT_FALSE(layout_of(8));
    EXPECT_FALSE(layout_of(14));
}

TEST(PythonLines, OfTheThreeTables) {
    // A line backwards: 5, then -2 (0xFE), then +3.
    EXPECT_EQ(line_at(LineTable::lnotab, "\x02\xFE\x02\x03"sv, 0, 5), 5);
    EXPECT_EQ(line_at(LineTable::lnotab, "\x02\xFE\x02\x03"sv, 2, 5), 3);
    EXPECT_EQ(line_at(LineTable::lnotab, "\x02\xFE\x02\x03"sv, 100, 5), 6);
    EXPECT_EQ(line_at(LineTable::ranges, "\x02\x00\x02\x80\x02\x04"sv, 0, 5), 5);
    EXPECT_EQ(line_at(LineTable::ranges, "\x02\x00\x02\x80\x02\x04"sv, 1, 5), std::nullopt);
    EXPECT_EQ(line_at(LineTable::ranges, "\x02\x00\x02\x80\x02\x04"sv, 2, 5), 9);
    EXPECT_EQ(line_at(LineTable::ranges, "\x02\x00"sv, 9, 5), std::nullopt);
    // Short form; no columns, -3 (7); long form, +70 (140 = 12 + 2 * 64), three more numbers; no location.
    std::string table = {static_cast<char>(128 | 3 << 3),
                         1,
                         static_cast<char>(128 | 13 << 3),
                         7,
                         static_cast<char>(128 | 14 << 3),
                         64 | 12,
                         2,
                         0,
                         1,
                         2,
                         static_cast<char>(128 | 15 << 3)};
    EXPECT_EQ(line_at(LineTable::locations, table, 0, 5), 5);
    EXPECT_EQ(line_at(LineTable::locations, table, 1, 5), 2);
    EXPECT_EQ(line_at(LineTable::locations, table, 2, 5), 72);
    EXPECT_EQ(line_at(LineTable::locations, table, 3, 5), std::nullopt);
    EXPECT_EQ(line_at(LineTable::locations, table, -1, 5), 5);
    EXPECT_EQ(line_at(LineTable::locations, "abc", 0, 5), std::nullopt);
}

}  // namespace
}  // namespace gpuprof::python
