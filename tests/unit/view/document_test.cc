// A document whose timeline is read before its answer is there: what the first manifest lists stays as it is.
#include "present/view/document.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

// Input-bound: a launch and a kernel every 100 us, with a kernel that takes 10 us.
Trace recording() {
    Draft draft;
    for (int i = 0; i < 200; ++i) {
        TimeNs at = 1'000'000 + TimeNs{i} * 100'000;
        draft.call("main", at, at + 2000, "cudaLaunchKernel", i + 1);
        draft.kernel(0, 7, at + 5000, at + 15'000, i % 2 == 0 ? "A" : "B", i + 1);
    }
    return draft.finish();
}

// The value of a member that is a number or null; enough for a test.
std::string member(const std::string& manifest, const std::string& name) {
    std::size_t at = manifest.find("\"" + name + "\": ") + name.size() + 4;
    return manifest.substr(at, manifest.find_first_of(",}", at) - at);
}

std::string part(const std::string& manifest, std::string_view from, std::string_view to) {
    std::size_t begin = manifest.find(from);
    return manifest.substr(begin, manifest.find(to) - begin);
}

TEST(Document, TheTimelineComesFirst) {
    std::string early;
    std::vector<std::string> blobs, known;
    std::vector<ViewStage> stages;
    auto report = [&](const ViewProgress& now) {
        stages.push_back(now.stage);
        known.insert(known.end(), now.known.begin(), now.known.end());
        if (now.timeline == nullptr) return;
        early = now.timeline->manifest();
        for (std::size_t id = 0; id < now.timeline->blobs(); ++id)
            blobs.push_back(now.timeline->blob(id, EncodingGoal::narrowest));
    };
    Result<ViewDocument> made = ViewDocument::make(recording(), "test", {}, StepDetail::slowest, report);
    ASSERT_TRUE(made.ok());
    ViewDocument document = std::move(made).value();
    EXPECT_EQ(stages.front(), ViewStage::arranging);
    EXPECT_EQ(stages.back(), ViewStage::analysing);
    EXPECT_FALSE(known.empty());
    const std::string whole = document.manifest();
    EXPECT_EQ(member(early, "report"), "null");
    EXPECT_EQ(member(early, "pictures"), "null");
    EXPECT_EQ(member(early, "names"), member(whole, "names"));
    EXPECT_EQ(part(early, "\"tracks\"", "\"critical_path\""), part(whole, "\"tracks\"", "\"critical_path\""));
    EXPECT_EQ(part(early, "\"tables\"", "\"long_tables\""), part(whole, "\"tables\"", "\"long_tables\""));
    ASSERT_GE(document.blobs(), blobs.size());
    std::size_t report_blob = std::stoul(member(whole, "report")), shares = std::stoul(member(whole, "pictures"));
    for (std::size_t id = 0; id < blobs.size(); ++id) {
        bool of_answer = id == report_blob || id == shares;
        EXPECT_EQ(blobs[id].empty(), of_answer) << id;
        if (of_answer) continue;
        EXPECT_EQ(document.blob(id, EncodingGoal::narrowest), blobs[id]) << id;
    }
    EXPECT_FALSE(document.blob(report_blob, EncodingGoal::narrowest).empty());
}

}  // namespace
}  // namespace gpuprof
