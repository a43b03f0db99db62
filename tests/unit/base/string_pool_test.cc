#include "core/base/string_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof {
namespace {

TEST(StringPool, InternsEachTextOnceAndKeepsItsBytes) {
    StringPool pool;
    std::string big(200'000, 'x');
    EXPECT_EQ(pool.find("a"), kNoString);
    StringId empty = pool.intern(""), a = pool.intern("a"), nul = pool.intern(std::string_view("a\0b", 3)),
             large = pool.intern(big);
    for (int i = 0; i < 10'000; ++i) pool.intern("text " + std::to_string(i));
    EXPECT_EQ(pool.intern("a"), a);
    EXPECT_EQ(pool.find(""), empty);
    EXPECT_EQ(pool[nul], std::string_view("a\0b", 3));
    EXPECT_EQ(pool[large], big);
    EXPECT_EQ(pool.size(), 10'004u);
    EXPECT_EQ(pool[kNoString], "");
    StringPool moved = std::move(pool);
    EXPECT_EQ(moved[large], big);
}

TEST(StringPool, MergeTranslatesIds) {
    StringPool a, b;
    a.intern("x");
    StringId y = b.intern("y"), x = b.intern("x");
    auto ids = a.merge(b);
    EXPECT_EQ(a[ids[index_of(y)]], "y");
    EXPECT_EQ(ids[index_of(x)], a.find("x"));
}

}  // namespace
}  // namespace gpuprof
