// Cubins of five compilations (tests/fixtures/cubin): resources equal what cuobjdump -res-usage and ptxas -v print of them.
#include "io/cubin/cubin.h"

#include <gtest/gtest.h>

#include "io/cubin/attributes.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::cubin {
namespace {

// With the bytes that it refers to.
struct Read {
    std::string bytes;
    Cubin cubin;
};

Read read(const std::string& name) {
    Read result{test::fixture("cubin/" + name + ".cubin.gz"), {}};
    Result<Cubin> cubin = read_cubin(result.bytes);
    EXPECT_TRUE(cubin.ok());
    if (cubin.ok()) result.cubin = std::move(cubin).value();
    return result;
}

const Function& function(const Read& read, std::string_view name) {
    const Function* found = read.cubin.function(name);
    static const Function none;
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? none : *found;
}

TEST(Cubin, NamesItsArchitecture) {
    EXPECT_EQ(read("kernels.sm_80").cubin.architecture_name(), "sm_80");
    EXPECT_EQ(read("kernels.sm_90a").cubin.architecture_name(), "sm_90a");
    EXPECT_EQ(read("kernels.sm_100a").cubin.architecture_name(), "sm_100a");
    EXPECT_EQ(read("add.sm_80.cuda12").cubin.architecture_name(), "sm_80");  // the layout before CUDA 13
    Cubin blackwell = read("kernels.sm_100a").cubin;
    EXPECT_EQ(blackwell.cc_major(), 10);
    EXPECT_EQ(blackwell.cc_minor(), 0);
}

TEST(Cubin, CountsWhatAKernelNeeds) {
    struct Needs {
        const char *file, *name;
        int registers, shared, stack, barriers;
    };
    constexpr Needs kNeeds[] = {
        {"kernels.sm_80", "_Z5scalePfPKffi", 10, 0, 0, 0},
        {"kernels.sm_80", "_Z5rootsPfPKf", 17, 0, 0, 0},
        {"kernels.sm_80", "_Z9block_sumILi256EEvPiPKi", 10, 1024, 0, 1},
        {"kernels.sm_80", "_Z8spillingPfPKfi", 32, 0, 264, 1},
        {"kernels.sm_80", "_Z14named_barriersPi", 8, 128, 0, 6},
        {"kernels.sm_90a", "_Z9block_sumILi256EEvPiPKi", 10, 1024, 0, 1},
        {"kernels.sm_90a", "_Z8spillingPfPKfi", 32, 0, 496, 1},
        {"kernels.sm_90a", "_Z14named_barriersPi", 10, 128, 0, 6},
        {"kernels.sm_100a", "_Z7indexedPiPKii", 30, 0, 0, 0},
        {"kernels.sm_100a", "_Z9block_sumILi256EEvPiPKi", 10, 1024, 0, 1},
        {"add.sm_80.cuda12", "add_kernel", 10, 0, 0, 0},
    };
    for (const Needs& needs : kNeeds) {
        SCOPED_TRACE(std::string(needs.file) + " " + needs.name);
        Read file = read(needs.file);
        const Function& kernel = function(file, needs.name);
        EXPECT_TRUE(kernel.kernel);
        EXPECT_EQ(kernel.registers, needs.registers);
        EXPECT_EQ(kernel.static_shared_bytes, needs.shared);
        EXPECT_EQ(kernel.stack_bytes, needs.stack);
        EXPECT_EQ(kernel.barriers, needs.barriers);
    }
}

TEST(Cubin, KnowsBoundsClustersAndSpills) {
    Read file = read("kernels.sm_90a");
    EXPECT_EQ(function(file, "_Z5rootsPfPKf").max_block, (Dimensions{128, 1, 1}));
    EXPECT_FALSE(function(file, "_Z5scalePfPKffi").max_block);
    EXPECT_EQ(function(file, "_Z10in_clusterPi").cluster, (Dimensions{2, 1, 1}));
    EXPECT_FALSE(function(file, "_Z5rootsPfPKf").cluster);
    EXPECT_EQ(function(file, "_Z8spillingPfPKfi").register_limit, 32);
    EXPECT_EQ(function(file, "_Z5scalePfPKffi").register_limit, 255);
    EXPECT_GT(function(file, "_Z8spillingPfPKfi").spill_instructions, 100);
    EXPECT_EQ(function(file, "_Z5scalePfPKffi").spill_instructions, 0);
    Read triton = read("add.sm_90a");
    EXPECT_EQ(function(triton, "add_kernel").required_block, (Dimensions{128, 1, 1}));
}

TEST(Cubin, TellsKernelsFromTheFunctionsTheyCall) {
    Read file = read("kernels.sm_80");
    const Function& called = function(file, "$_Z5rootsPfPKf$_Z9slow_rootf");
    EXPECT_FALSE(called.kernel);
    EXPECT_FALSE(called.registers);
    EXPECT_EQ(called.start, 0x130u);
    EXPECT_EQ(called.code_bytes, 1936u);
    EXPECT_EQ(called.section, function(file, "_Z5rootsPfPKf").section);
}

TEST(Cubin, SurvivesEveryTruncation) {
    std::string bytes = test::fixture("cubin/add.sm_90a.cubin.gz");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Result<Cubin> cubin = read_cubin(std::string_view(bytes).substr(0, size));
        if (cubin.ok())
            EXPECT_EQ(cubin->functions.size(), 1u);  // only program headers follow the section headers
        else
            EXPECT_EQ(cubin.error().code, ExitCode::unreadable);
    }
}

TEST(Cubin, RefusesSectionsThatMultiplyTheFile) {
    std::string bytes = test::fixture("cubin/add.sm_90a.cubin.gz");
    std::uint64_t headers = u64_at(bytes, 40), count = u16_at(bytes, 60);
    for (std::uint64_t i = 1; i < count; ++i) {  // each section is the whole file
        bytes.replace(headers + i * 64 + 24, 8, std::string(8, '\0'));
        std::string size(8, '\0');
        for (int byte = 0; byte < 8; ++byte) size[byte] = static_cast<char>(bytes.size() >> 8 * byte);
        bytes.replace(headers + i * 64 + 32, 8, size);
    }
    Result<Cubin> cubin = read_cubin(bytes);
    ASSERT_FALSE(cubin.ok());
    EXPECT_EQ(cubin.error().message, "broken ELF file: too many sections overlap");
}

TEST(Cubin, SaysWhatToDoWithOtherFiles) {
    EXPECT_EQ(what_instead("\x50\xed\x55\xba....", "a.fatbin"),
              "is a fat binary; extract its cubins with `cuobjdump -xelf all a.fatbin`, and name one of them");
    EXPECT_EQ(what_instead("//\n.version 8.0\n.target sm_80\n", "a.ptx"),
              "is PTX; assemble it with `ptxas -lineinfo -arch=sm_90 -o kernel.cubin a.ptx` for your architecture");
    EXPECT_EQ(what_instead("hello", "a"),
              "is not a cubin; nvcc -cubin writes one, and Triton keeps its own in ~/.triton/cache");
}

// The example of attributes.h.
TEST(Attributes, AreReadOneAfterTheOther) {
    constexpr char kBytes[] =
        "\x04\x2f\x08\x00\x1f\x00\x00\x00\x0a\x00\x00\x00\x03\x1b\xff\x00\x02\x4c\x06\x00\x01\x35\x00\x00\x04";
    AttributeReader reader(std::string_view(kBytes, sizeof kBytes - 1));
    std::optional<AttributeValue> registers = reader.next(), limit = reader.next(), barriers = reader.next();
    ASSERT_TRUE(registers && limit && barriers);
    EXPECT_EQ(registers->attribute, Attribute::register_count);
    EXPECT_EQ(u32_at(registers->block, 0), 31u);
    EXPECT_EQ(u32_at(registers->block, 4), 10u);
    EXPECT_EQ(limit->small, 255u);
    EXPECT_EQ(barriers->small, 6u);
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.next());  // cut off
}

}  // namespace
}  // namespace gpuprof::cubin
