// The worked example of docs/reference/capture-format.md is what the writer writes and the reader reads, byte by byte.
#include <fstream>
#include <sstream>

#include "tests/unit/format/capture_bytes.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

std::string document() {
    std::ifstream file(source_folder() + "/docs/reference/capture-format.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The bytes of the block fenced as ```hex: an offset, then bytes, per line.
std::string example_bytes(const std::string& text) {
    std::size_t begin = text.find("```hex\n") + 7;
    std::istringstream block(text.substr(begin, text.find("```", begin) - begin));
    std::string bytes, line, word;
    while (std::getline(block, line)) {
        std::istringstream words(line);
        words >> word;
        EXPECT_EQ(std::stoul(word, nullptr, 16), bytes.size());
        while (words >> word) bytes += static_cast<char>(std::stoul(word, nullptr, 16));
    }
    return bytes;
}

PlainTable example_table() {
    auto number = [](std::int64_t value) { return Value(value); };
    return {"kernel",
            {{"start", ColumnType::Time, "ns", {number(1000), number(1500), number(1900), number(2600)}},
             {"name", ColumnType::Str, "", {"gemm", "relu", "gemm", "relu"}},
             {"registers", ColumnType::I32, "count", {number(64), Value{}, number(64), Value{}}}}};
}

TEST(FormatDocument, ExampleIsWhatIsWritten) {
    WriterOptions options;
    options.producer = "example";
    EXPECT_EQ(write_bytes({example_table()}, options), example_bytes(document()));
}

TEST(FormatDocument, ExampleReadsBack) {
    ReadBack back = read_chunks(example_bytes(document()));
    EXPECT_EQ(back.chunks.size(), 3u);
    EXPECT_TRUE(back.gaps.empty());
    PlainTable read = read_tables(back)["kernel"], written = example_table();
    ASSERT_EQ(read.columns.size(), written.columns.size());
    for (std::size_t i = 0; i < read.columns.size(); ++i) EXPECT_EQ(read.columns[i].values, written.columns[i].values);
}

// The rows of the table that explains it: each offset has the bytes it says it has ("..." stands for any).
TEST(FormatDocument, ExplanationsPointAtTheirBytes) {
    std::string text = document(), bytes = example_bytes(text), line;
    std::istringstream lines(text.substr(text.find("| offset | bytes | what |")));
    std::size_t checked = 0, end = 0;
    while (std::getline(lines, line) && line.starts_with('|')) {
        std::size_t tick = line.find('`');
        if (tick == std::string::npos) continue;
        std::size_t at = std::stoul(line.substr(2, 4), nullptr, 16);
        EXPECT_TRUE(end == 0 || at == end || line.find("...") != std::string::npos) << line;
        std::istringstream words(line.substr(tick + 1, line.find('`', tick + 1) - tick - 1));
        std::string word;
        std::size_t byte = at;
        bool exact = true;
        while (words >> word) {
            exact = exact && word != "...";
            if (!exact) continue;
            EXPECT_EQ(static_cast<unsigned char>(bytes.at(byte++)), std::stoul(word, nullptr, 16)) << line;
        }
        end = exact ? byte : 0;
        ++checked;
    }
    EXPECT_EQ(checked, 20u);
}

}  // namespace
}  // namespace gpuprof::test
