// A quoted word is one word for a shell, and the one it was: asked of bash itself for hostile names.
#include "core/base/text/shell_words.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

namespace gpuprof {
namespace {

TEST(ShellWords, QuotesOnlyWhatNeedsIt) {
    EXPECT_EQ(shell_quoted("traces/run-1.json.gz"), "traces/run-1.json.gz");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("a b"), "'a b'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted("a; touch x $(id).json.gz"), "'a; touch x $(id).json.gz'");
    EXPECT_EQ(shell_quoted("=ls"), "'=ls'");
    EXPECT_EQ(shell_quoted("~root"), "'~root'");
    EXPECT_EQ(shell_quoted("Größe"), "'Größe'");
    EXPECT_EQ(shell_quoted("a\nb"), "$'a\\nb'");
    EXPECT_EQ(shell_quoted("a\x1b[31m'\\"), "$'a\\033[31m\\'\\\\'");
    EXPECT_EQ(shell_quoted("\xff\x37"), "$'\\3777'");
    EXPECT_EQ(shell_quoted("\xe2\x80\xae"), "$'\\342\\200\\256'");  // turns the direction of writing round
    EXPECT_EQ(shell_quoted_file("-o"), "./-o");
    EXPECT_EQ(shell_quoted_file("-"), "-");
}

TEST(ShellWords, BaseNamesTellOfNoFolder) {
    EXPECT_EQ(base_name("/data/me/x.json"), "x.json");
    EXPECT_EQ(base_name("/data/me/run/"), "run");
    EXPECT_EQ(base_name("x"), "x");
    EXPECT_EQ(base_name("/"), "/");
}

TEST(ShellWords, AreWhatTheyWereForBash) {
    const std::string kNames[] = {"plain",
                                  "a b",
                                  "it's",
                                  "$(id)",
                                  "`id`",
                                  "a;b",
                                  "a\nb\tc\rd",
                                  "!!",
                                  "a\\b\\n",
                                  "\"q\"",
                                  "*?[x]",
                                  "{a,b}",
                                  "#x",
                                  "a&b|c>d<",
                                  "~",
                                  "\x01\x7f\x1b",
                                  "\xff\xfe"
                                  "9",
                                  "\xc3\xa9",
                                  "'\n'",
                                  "-n",
                                  "",
                                  "$'x'",
                                  "\xe2\x80\xae"
                                  "x"};
    std::string command = "printf '%s\\0'", expected;
    for (const std::string& name : kNames) {
        command += " " + shell_quoted(name);
        expected += name + '\0';
        EXPECT_EQ(plain_files(shell_quoted(name)), name);
    }
    ASSERT_EQ(command.find('\n'), std::string::npos);
    std::string script = testing::TempDir() + "shell_words_test.sh";
    FILE* file = fopen(script.c_str(), "w");
    ASSERT_NE(file, nullptr);
    fwrite(command.data(), 1, command.size(), file);
    fclose(file);
    FILE* shell = popen(("exec bash " + script).c_str(), "r");
    ASSERT_NE(shell, nullptr);
    std::string got(4096, '\0');
    got.resize(fread(got.data(), 1, got.size(), shell));
    pclose(shell);
    remove(script.c_str());
    EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace gpuprof
