#include "core/base/text/function_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace gpuprof {
namespace {

TEST(ShortName, KeepsTheFunction) {
    EXPECT_EQ(short_name("void at::native::(anonymous namespace)::fill<4, F<float> >(int, std::array<char*, 2>)"),
              "fill");
    EXPECT_EQ(short_name("void gemm_kernel<float, (Mode)1>(Params)"), "gemm_kernel");
    EXPECT_EQ(short_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
    EXPECT_EQ(short_name("Memcpy HtoD (Pinned -> Device)").find("Memcpy"), 0U);
    EXPECT_EQ(short_name(""), "");
    EXPECT_EQ(short_name("<<<>>>((("), "<<<>>>(((");
    EXPECT_EQ(short_name("a: b c"), "a: b c");
}

// pair<int, int>, a pair of two of those, of two of those, ...: 2^levels parts.
std::string doubled(int levels) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    auto reference = [&](int number) {
        return number == 0 ? std::string("S_") : std::string("S") + kDigits[static_cast<std::size_t>(number) - 1] + "_";
    };
    std::string name = "_Z1fSt4pairIiiE";  // S_ is std::pair, S0_ pair<int, int>
    for (int level = 1; level < levels; ++level) name += "S_I" + reference(level) + reference(level) + "E";
    return name;
}

TEST(Demangled, EndsAtItsLimit) {
    EXPECT_EQ(demangled("_ZN2ns1A3runEi"), "ns::A::run(int)");
    EXPECT_EQ(demangled("_ZN2ns1A3run"), "_ZN2ns1A3run") << "cut";
    EXPECT_EQ(demangled("main"), "main");
    EXPECT_EQ(demangled(doubled(2)), "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
    EXPECT_GT(demangled(doubled(10)).size(), 10'000U);
    EXPECT_FALSE(is_too_long_demangled(doubled(10)));
    for (int levels : {14, 24, 34}) {
        EXPECT_EQ(demangled(doubled(levels)), doubled(levels));
        EXPECT_EQ(short_name(doubled(levels)), doubled(levels));
        EXPECT_TRUE(is_too_long_demangled(doubled(levels)));
    }
    std::string large = "_Z100000" + std::string(100'000, 'a') + "i";
    EXPECT_EQ(demangled(large), large);
    EXPECT_TRUE(is_too_long_demangled(large));
    EXPECT_FALSE(is_too_long_demangled(std::string(100'000, 'a'))) << "not mangled";
    std::string deep = "_Z1f" + std::string(20'000, 'P') + "i";  // levels of pointers
    EXPECT_EQ(demangled(deep), deep);
}

TEST(QualifiedName, KeepsTheScope) {
    EXPECT_EQ(qualified_name("void at::native::(anonymous namespace)::fill<4, F<float> >(int, std::array<char*, 2>)"),
              "at::native::fill");
    EXPECT_EQ(qualified_name("_ZN2ns1A3runEi"), "ns::A::run");
    EXPECT_EQ(qualified_name("main"), "main");
    EXPECT_EQ(qualified_name("ns::A::operator()(int)"), "ns::A::operator()(int)");
    EXPECT_EQ(qualified_name(""), "");
    EXPECT_EQ(qualified_name("::::::::("), "::");
}

}  // namespace
}  // namespace gpuprof
