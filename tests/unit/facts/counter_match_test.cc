// Names of one kernel as different tools write them.
#include "analyze/facts/kernels/counter_match.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(SameKernel, EqualNamesFirst) { EXPECT_EQ(same_kernel("addk", {"addk2", "addk"}), 1u); }

TEST(SameKernel, OneOfOne) { EXPECT_EQ(same_kernel("void f<1>(int)", {"void f<true>(int)"}), 0u); }

TEST(SameKernel, WordsDecide) {
    EXPECT_EQ(same_kernel("void elementwise_kernel<128, 2, BinaryFunctor<float, MulFunctor<float>>>(int)",
                          {"void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add<float> >(int)",
                           "void at::native::elementwise_kernel<128, 2, at::native::BinaryFunctor<float, "
                           "at::native::binary_internal::MulFunctor<float> > >(int)"}),
              1u);
}

TEST(SameKernel, AlikeIsNoAnswer) {
    EXPECT_EQ(same_kernel("void f<float, 3>(int)", {"void f<float, 1>(int)", "void f<float, 2>(int)"}),
              std::size_t{CounterMatch::kNone});
    EXPECT_EQ(same_kernel("f", {}), std::size_t{CounterMatch::kNone});
}

}  // namespace
}  // namespace gpuprof
