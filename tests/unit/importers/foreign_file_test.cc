#include "io/importers/foreign_file.h"

#include <gtest/gtest.h>

#include <string>

#include "core/model/build/submission.h"
#include "io/importers/device_names.h"

namespace gpuprof::test {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";

TEST(ForeignFile, ConvertedFilesAreKnownByTheirFirstBytes) {
    std::string replaced(kReplaced);
    EXPECT_TRUE(was_converted_to_text("\x1F" + replaced + "\x08rest"));            // gzip
    EXPECT_TRUE(was_converted_to_text("(" + replaced + "/" + replaced + "rest"));  // zstd
    EXPECT_TRUE(was_converted_to_text(replaced + "gpuprof"));
    EXPECT_TRUE(was_converted_to_text(replaced + "\x04"));  // pickle
}

TEST(ForeignFile, BinaryContentThatIsTextWasConverted) {
    std::string zeros("SQLite format 3\0 page", 21), replaced(kReplaced);
    EXPECT_FALSE(was_converted_to_text(zeros));
    EXPECT_TRUE(was_converted_to_text(zeros + replaced));
    EXPECT_FALSE(
        was_converted_to_text(zeros + replaced + "\xFF" + std::string(10, 'x')));  // a name in a sound database
    EXPECT_TRUE(was_converted_to_text(zeros + replaced + "\xEF\xBF"));             // cut within a character
}

TEST(ForeignFile, TextMayHaveReplacementCharacters) {
    EXPECT_FALSE(was_converted_to_text("{\"name\": \"k" + std::string(kReplaced) + "\"}"));
    EXPECT_FALSE(was_converted_to_text(""));
}

TEST(DeviceNames, AnySpelling) {
    for (std::string_view name : {"3", "cuda:3", "amd:3", "gpu3", "XPU 3", "GPU:3"})
        EXPECT_EQ(device_ordinal(name), 3) << name;
    for (std::string_view name : {"", "cuda", "cuda:", "-3", "1.3", "4096", "99999999999", "a:b:3"})
        EXPECT_EQ(device_ordinal(name), std::nullopt) << name;
    EXPECT_EQ(vendor_of_kind("HIP"), "amd");
    EXPECT_EQ(vendor_of_kind("cuda:0"), "nvidia");
    EXPECT_EQ(vendor_of_kind("hippo"), "");
}

TEST(Submission, CallsBelowSycl) {
    EXPECT_EQ(submission_of("urEnqueueKernelLaunchWithArgsExp"), Submission::kernel);
    EXPECT_EQ(submission_of("zeCommandListAppendLaunchKernelWithArguments"), Submission::kernel);
    EXPECT_EQ(submission_of("urEnqueueUSMMemcpy2D"), Submission::copy);
    EXPECT_EQ(submission_of("piextUSMEnqueueMemset"), Submission::fill);
    EXPECT_EQ(submission_of("zeCommandListAppendMemoryFill"), Submission::fill);
    EXPECT_EQ(submission_of("urEnqueueEventsWaitWithBarrier"), Submission::none);
    EXPECT_EQ(submission_of("zeCommandListAppendBarrier"), Submission::none);
    EXPECT_EQ(submission_of("urQueueFinish"), Submission::none);
}

}  // namespace
}  // namespace gpuprof::test
