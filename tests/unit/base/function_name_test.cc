#include "core/base/function_name.h"

#include <gtest/gtest.h>

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
