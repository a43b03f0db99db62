#include "core/base/files/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "core/base/files/file_sink.h"
#include "core/base/files/temporary_file.h"

namespace gpuprof::test {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public ::testing::Test {
protected:
    void SetUp() override { before_ = umask(022); }
    void TearDown() override { umask(before_); }

    std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
    void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    std::string text_of(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(path(name)).rdbuf();
        return text.str();
    }
    unsigned mode_of(const std::string& name) const {
        struct stat about {};
        EXPECT_EQ(stat(path(name).c_str(), &about), 0);
        return about.st_mode & 0777;
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_->path()), fs::directory_iterator()));
    }
    FileSink sink(const std::string& name, const OutputOptions& options = {}) const {
        Result<FileSink> opened = FileSink::open(path(name), options);
        EXPECT_TRUE(opened.ok());
        return std::move(opened).value();
    }

    Result<TemporaryFolder> folder_ = TemporaryFolder::make();
    mode_t before_ = 0;
};

TEST_F(OutputFiles, TheOldFileStaysUntilTheNewOneIsWhole) {
    put("out", "old");
    {
        FileSink out = sink("out");
        out.write("new");
        out.flush();
        EXPECT_EQ(text_of("out"), "old");
        ASSERT_TRUE(out.close().ok());
        EXPECT_EQ(text_of("out"), "new");
    }
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, WhatIsNotClosedNeverHappened) {
    { sink("out").write("half"); }
    EXPECT_EQ(files(), 0u);
    put("out", "old");
    { sink("out").write("half"); }
    EXPECT_EQ(text_of("out"), "old");
    EXPECT_EQ(files(), 1u);
}

// A limit of the file size is a disk that is full, without a disk.
TEST_F(OutputFiles, AFullDiskLeavesTheOldFile) {
    put("out", "old");
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto handler = signal(SIGXFSZ, SIG_IGN);
    rlimit small{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    {
        FileSink out = sink("out");
        out.write(std::string(10'000, 'x'));
        Status closed = out.close();
        ASSERT_FALSE(closed.ok());
        EXPECT_EQ(closed.error().code, ExitCode::internal);
        EXPECT_EQ(closed.error().message, "cannot write " + path("out") + ": File too large");
    }
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT_EQ(text_of("out"), "old");
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, APublishedFileGrowsAndLosesOnlyWhatWasTorn) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto handler = signal(SIGXFSZ, SIG_IGN);
    rlimit small{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    put("out", "old");
    {
        FileSink out = sink("out");
        out.write("head\n");
        EXPECT_EQ(text_of("out"), "old");
        ASSERT_TRUE(out.publish().ok());
        EXPECT_EQ(text_of("out"), "head\n");
        out.write("line\n");
        out.flush();
        EXPECT_EQ(text_of("out"), "head\nline\n");
        out.write(std::string(10'000, 'x') + "\n");
        EXPECT_FALSE(out.close().ok());
    }
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT_EQ(text_of("out"), "head\nline\n");
}

TEST_F(OutputFiles, ModesAreKeptOrThoseOfTheUmaskOrTheOwnersAlone) {
    put("kept", "old");
    chmod(path("kept").c_str(), 0640);
    ASSERT_TRUE(sink("kept").close().ok());
    ASSERT_TRUE(sink("plain").close().ok());
    ASSERT_TRUE(sink("private", {.owner_only = true}).close().ok());
    EXPECT_EQ(mode_of("kept"), 0640u);
    EXPECT_EQ(mode_of("plain"), 0644u);
    EXPECT_EQ(mode_of("private"), 0600u);
}

TEST_F(OutputFiles, LinksAreFollowed) {
    fs::create_directory(path("folder"));
    put("folder/target", "old");
    fs::create_symlink("folder/target", path("link"));
    fs::create_symlink("folder/not-yet", path("ahead"));
    FileSink one = sink("link"), two = sink("ahead");
    one.write("new");
    ASSERT_TRUE(one.close().ok());
    ASSERT_TRUE(two.close().ok());
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_TRUE(fs::is_symlink(path("ahead")));
    EXPECT_EQ(text_of("folder/target"), "new");
    EXPECT_TRUE(fs::exists(path("folder/not-yet")));
}

TEST_F(OutputFiles, LinksInACircleAreAnError) {
    fs::create_symlink("b", path("a"));
    fs::create_symlink("a", path("b"));
    Result<FileSink> opened = FileSink::open(path("a"));
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ExitCode::usage);
}

TEST_F(OutputFiles, WhatIsNoRegularFileIsWrittenAsItIs) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    FileSink pipe = sink("pipe");
    pipe.write("through");
    ASSERT_TRUE(pipe.close().ok());
    char read[16] = "";
    EXPECT_EQ(::read(reader, read, sizeof read), 7);
    close(reader);
    EXPECT_EQ(files(), 1u);

    // A descriptor that others share keeps its file, also one without a name.
    put("open", "old");
    int shared = open(path("open").c_str(), O_RDWR);
    unlink(path("open").c_str());
    Result<FileSink> out = FileSink::open("/proc/self/fd/" + std::to_string(shared));
    ASSERT_TRUE(out.ok());
    out->write("through");
    ASSERT_TRUE(out->close().ok());
    EXPECT_EQ(pread(shared, read, sizeof read, 0), 7);
    close(shared);
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, ANameAsLongAsNamesMayBe) {
    std::string name(255, 'n');
    FileSink out = sink(name);
    EXPECT_LE(fs::path(out.part()).filename().string().size(), 255u);
    ASSERT_TRUE(out.close().ok());
    EXPECT_TRUE(fs::exists(path(name)));
}

TEST_F(OutputFiles, NeverReplacesAFileThatAnotherProcessMadeFirst) {
    Result<OutputFile> mine = OutputFile::open(path("new"));
    ASSERT_TRUE(mine.ok());
    put("new", "theirs");
    { ASSERT_TRUE(mine->publish_unless_there().ok()); }
    EXPECT_EQ(text_of("new"), "theirs");
    { OutputFile gone = std::move(mine).value(); }
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, APartCanBeKept) {
    std::string part;
    {
        FileSink out = sink("out");
        out.write("what there is");
        out.flush();
        part = out.keep_part();
    }
    EXPECT_EQ(text_of(fs::path(part).filename()), "what there is");
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(OutputFiles, ThePartIsAnnouncedBeforeItExists) {
    std::string announced;
    bool there = true;
    FileSink out = sink("out", {.owner_only = false, .in_place = false, .announce = [&](const std::string& part) {
                                    announced = part;
                                    there = fs::exists(part);
                                }});
    EXPECT_EQ(announced, out.part());
    EXPECT_FALSE(there);
}

// Root may write everything: while it lives, the folder and this process are another user's.
class AsNobody {
public:
    explicit AsNobody(const std::string& folder) {
        if (geteuid() != 0) return;
        EXPECT_EQ(chown(folder.c_str(), kUnpaired, kUnpaired), 0);
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
            EXPECT_EQ(chown(entry.path().c_str(), kUnpaired, kUnpaired), 0);
        changed_ = seteuid(kUnpaired) == 0;
    }
    ~AsNobody() {
        if (changed_) {
            EXPECT_EQ(seteuid(0), 0);
        }
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;

private:
    static constexpr uid_t kUnpaired = 65534;
    bool changed_ = false;
};

TEST_F(OutputFiles, WhatMayNotBeWrittenIsNotReplaced) {
    put("read-only", "old");
    fs::create_directory(path("closed"));
    put("closed/out", "old");
    AsNobody nobody(folder_->path());
    chmod(path("read-only").c_str(), 0400);
    chmod(path("closed").c_str(), 0500);
    Result<FileSink> protected_file = FileSink::open(path("read-only"));
    ASSERT_FALSE(protected_file.ok());
    EXPECT_EQ(protected_file.error().message, "cannot write " + path("read-only") + ": Permission denied");
    Result<FileSink> in_closed_folder = FileSink::open(path("closed/out"));
    chmod(path("closed").c_str(), 0700);
    ASSERT_FALSE(in_closed_folder.ok());
    EXPECT_EQ(in_closed_folder.error().code, ExitCode::not_permitted);
    EXPECT_NE(in_closed_folder.error().message.find("no file can be created in its folder"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::test
