// Stacks read from made-up processes: what must come out, and that nothing bad does, whatever the memory holds.
#include "collect/python/stack_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "collect/python/python_line_table.h"
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
    Small python(layout_of_build(GetParam()));
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

TEST_P(EveryVersion, ReadsOneThread) {
    Small python(layout_of_build(GetParam()));
    Address second = python.thread(python.root, 90, python.first);
    python.put(python.interpreter + python.layout.threads_head, second);
    StackReader reader(python, python.layout, python.marks);
    for (int again = 0; again < 2; ++again) {
        const ThreadStack* leaf = reader.read_thread(78);
        ASSERT_NE(leaf, nullptr);
        EXPECT_EQ(leaf->frames, "main (train.py:12);gr\u00f6\u00dfe (\u4e00/__init__.py:20)");
        const ThreadStack* root = reader.read_thread(91);
        ASSERT_NE(root, nullptr);
        EXPECT_EQ(root->frames, "main (train.py:12)");
    }
    EXPECT_EQ(reader.read_thread(12345), nullptr);
    python.put(second + python.layout.thread_id, std::uint64_t{92});  // the thread has ended, another one has its state
    EXPECT_EQ(reader.read_thread(91), nullptr);
    EXPECT_NE(reader.read_thread(92), nullptr);
}

TEST_P(EveryVersion, NoticesThatAnAddressHasAnotherCodeObjectNow) {
    Small python(layout_of_build(GetParam()));
    StackReader reader(python, python.layout, python.marks);
    reader.read();
    python.put(python.inner + python.layout.code_name, python.text(U"other"));
    EXPECT_EQ(reader.read().at(0).frames, "main (train.py:12);other (\u4e00/__init__.py:20)");
}

TEST_P(EveryVersion, CutsDeepStacksAndSaysSo) {
    Small python(layout_of_build(GetParam()));
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
        Small python(layout_of_build(GetParam()));
        make(python);
        StackReader reader(python, python.layout, python.marks);
        EXPECT_TRUE(reader.read().empty());
        EXPECT_EQ(reader.counts().torn, 1u);
    }
}

TEST_P(EveryVersion, EndsOnCirclesOfThreadsAndInterpreters) {
    Small python(layout_of_build(GetParam()));
    python.put(python.first + python.layout.thread_next, python.first);
    python.put(python.interpreter + python.layout.interpreter_next, python.interpreter);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_LE(reader.read().size(), std::size_t{StackReader::kMaxThreads});
}

// Every byte of the process is replaced by chance, many times: the answer may be anything, and comes.
TEST_P(EveryVersion, SurvivesAnyMemory) {
    std::mt19937 random(GetParam());
    for (int round = 0; round < 300; ++round) {
        Small python(layout_of_build(GetParam()));
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

INSTANTIATE_TEST_SUITE_P(PythonStacks, EveryVersion, testing::Values(9, 10, 11, 12, 13, 14, 113, 114));

TEST(PythonStacks, CFramesAreNoFunctions) {
    for (auto [build, owners] : {std::pair{12u, 1}, {13u, 1}, {113u, 1}, {14u, 2}, {114u, 2}}) {
        for (int owner = kOwnedByC; owner < 6; ++owner) {
            Small python(layout_of_build(build));
            Address shim = python.make(python.layout.frame_size);
            python.put(shim + python.layout.frame_previous, python.root);
            python.put(shim + python.layout.frame_owner, static_cast<std::uint8_t>(owner));
            python.put(python.leaf + python.layout.frame_previous, shim);
            StackReader reader(python, python.layout, python.marks);
            std::size_t expected = owner < kOwnedByC + owners ? 1 : 0;  // other owners do not exist: a torn stack
            ASSERT_EQ(reader.read().size(), expected) << build << " " << owner;
            if (expected == 1) {
                EXPECT_EQ(reader.read().at(0).depth, 2);
            }
        }
    }
}

// Frames of a thread that runs the code object's own instructions, and of one whose copy is not in the list.
TEST(PythonStacks, CopiesOfInstructionsAreNumbered) {
    Small python(layout_of_build(114));
    python.put(python.leaf + python.layout.frame_copy, std::int32_t{0});
    python.put(python.leaf + python.layout.frame_position, python.inner + python.layout.code_instructions + 2 * 3);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_EQ(reader.read().at(0).frames, "main (train.py:12);gr\u00f6\u00dfe (\u4e00/__init__.py:22)");
    for (std::int32_t copy : {2, -1, 1 << 30}) {
        python.put(python.leaf + python.layout.frame_copy, copy);
        EXPECT_TRUE(reader.read().empty()) << copy;
    }
}

TEST(PythonStacks, TheLockHolderIsKnown) {
    Small python(*layout_of(11));
    python.put(python.marks.runtime + python.layout.runtime_gil_holder, python.first);
    StackReader reader(python, python.layout, python.marks);
    EXPECT_EQ(reader.read().at(0).holds_gil, true);
    python.put(python.marks.runtime + python.layout.runtime_gil_holder, Address{0});
    EXPECT_EQ(reader.read().at(0).holds_gil, false);
}

// Since 3.12 an interpreter points to its lock, which several may share; builds without the lock may still switch it on.
TEST(PythonStacks, TheLockMayBeSharedOrUnused) {
    for (std::uint32_t build : {12u, 13u, 14u, 113u, 114u}) {
        Small python(layout_of_build(build));
        Address lock = python.make(64);
        python.put(python.interpreter + python.layout.interpreter_gil_pointer, lock);
        python.put(lock + python.layout.gil_holder, python.first);
        python.put(lock + python.layout.gil_locked, std::int32_t{1});
        StackReader reader(python, python.layout, python.marks);
        if (build > 100) {
            EXPECT_EQ(reader.read().at(0).holds_gil, std::nullopt) << build;
            python.put(lock + python.layout.gil_enabled, std::int32_t{1});
        }
        EXPECT_EQ(reader.read().at(0).holds_gil, true) << build;
        python.put(lock + python.layout.gil_locked, std::int32_t{0});
        EXPECT_EQ(reader.read().at(0).holds_gil, false) << build;
    }
}

// What the headers of the four builds say, and what nothing but a known description gives.
TEST(PythonLayout, OfBuildsThatDescribeThemselves) {
    Layout with = layout_of_build(14), without = layout_of_build(114);
    EXPECT_EQ(with.minor, 14u);
    EXPECT_EQ(with.threads_head, 7344u);
    EXPECT_EQ(with.thread_frame, 72u);
    EXPECT_EQ(with.thread_bytes(), 232u + 8u);
    EXPECT_EQ(with.code_instructions, 208u);
    EXPECT_EQ(with.frame_copy, kNone);
    EXPECT_EQ(with.object_type, 8u);
    EXPECT_EQ(with.gil_holder, 8u);
    EXPECT_EQ(with.gil_locked, 16u);
    EXPECT_EQ(with.text_ascii_size, 40u);
    EXPECT_EQ(without.code_instructions, 232u);
    EXPECT_EQ(without.frame_copy, 72u);
    EXPECT_EQ(without.code_copies, 224u);
    EXPECT_EQ(without.object_type, 24u);
    EXPECT_EQ(without.gil_enabled, 0u);
    EXPECT_EQ(without.text_ascii_size, 56u);
    EXPECT_EQ(layout_of_build(13).frame_owner, 70u);
    EXPECT_EQ(layout_of_build(113).code_name, 144u);
    EXPECT_EQ(layout_of_build(113).frame_code_tag, 0u);
    EXPECT_EQ(layout_of_build(113).text_interned_bits, 2u);
    EXPECT_EQ(without.text_interned_bits, 8u);
}

TEST(PythonLayout, RefusesWhatDoesNotDescribeItself) {
    const std::vector<std::uint64_t>& words = described_build(false, 14).words;
    DescriptionOnly sound(words);
    ASSERT_TRUE(read_layout(sound, 0));
    EXPECT_FALSE(read_layout(sound, 8));
    EXPECT_FALSE(read_layout(sound, ~Address{0}));
    // Previews of 3.14, which had other words, and versions that may have them.
    for (std::uint64_t version : {0x030e00a7u, 0x030e00b3u, 0x030f00f0u, 0x030c00f0u, 0x040e00f0u, 0u}) {
        sound.words()[1] = version;
        EXPECT_FALSE(read_layout(sound, 0)) << version;
    }
    sound.words()[1] = 0x030e00c2;  // a release candidate
    EXPECT_TRUE(read_layout(sound, 0));
    for (std::size_t word : {std::size_t{0}, std::size_t{5}, std::size_t{31}, std::size_t{80}}) {
        DescriptionOnly broken(words);
        broken.words()[word] = std::uint64_t{1} << 40;
        EXPECT_FALSE(read_layout(broken, 0)) << word;
    }
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{79}}) {
        DescriptionOnly cut({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size)});
        EXPECT_FALSE(read_layout(cut, 0)) << size;
    }
    EXPECT_FALSE(layout_of(8));
    EXPECT_FALSE(layout_of(13));
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
