// Names from public recordings and the sources of the libraries; what limits each was set by reading what it computes.
#include "analyze/knowledge/reuse.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof {
namespace {

Reuse of(std::string_view name) { return reuse_of(classify_kernel(name), name); }
Reuse as(KernelClass kind, std::string_view name) {
    KernelTraits traits;
    traits.kind = kind;
    return reuse_of(traits, name);
}

TEST(Reuse, SmallTilesReadEveryWeightForAFewRows) {
    for (const char* name : {"nvjet_sm90_tst_64x8_64x16_1x4_h_bz_TNT", "nvjet_hsh_16x128_64x8_1x2_h_bz_TNN",
                             "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8",
                             "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize16x64x64_stage5_warpsize1x2x2_"
                             "tensor16x8x16_execute_kernel_cublas"})
        EXPECT_EQ(of(name), Reuse::low) << name;
}

TEST(Reuse, TheUnitDecidesAboutTilesInBetween) {
    EXPECT_EQ(of("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1"), Reuse::low);
    EXPECT_EQ(of("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64_MI16x16x1_SN_LDSB1"), Reuse::unknown);
    EXPECT_EQ(of("ampere_sgemm_32x128_tn"), Reuse::unknown);
}

TEST(Reuse, LargeTilesUseThemOften) {
    for (const char* name : {"ampere_sgemm_128x64_tn", "nvjet_sm90_tst_256x128_64x4_2x1_v_bz_TNT",
                             "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8",
                             "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
                             "segment_k_off_kernel__5x_cublas",
                             "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn"})
        EXPECT_EQ(of(name), Reuse::high) << name;
}

TEST(Reuse, TheBatchDecides) {
    for (const char* name : {"void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4, 4>(int4 const*, int4 const*)",
                             "void cublasLt::splitK_gemm_kernel<float>(float const*)"})
        EXPECT_EQ(as(KernelClass::gemm, name), Reuse::unknown) << name;
    EXPECT_EQ(as(KernelClass::triton, "fused_moe_kernel"), Reuse::unknown);
}

TEST(Reuse, DecodingReadsTheKeysOnce) {
    for (const char* name :
         {"void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128, 16>(float*)",
          "void flashinfer::BatchDecodeWithPagedKVCacheKernel<2, 4>(Params)",
          "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4> >(Flash_fwd_params)"})
        EXPECT_EQ(as(KernelClass::attention, name), Reuse::low) << name;
    EXPECT_EQ(as(KernelClass::attention,
                 "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >(Flash_fwd_params)"),
              Reuse::high);
}

TEST(Reuse, NamesOfAnyBytesEnd) {
    for (const std::string& name : {std::string(100'000, '8'), std::string(100'000, 'x'), std::string("8x"),
                                    std::string("99999999999x8"), std::string()})
        EXPECT_NO_THROW((void)as(KernelClass::gemm, name));
    EXPECT_EQ(as(KernelClass::gemm, "99999999999x8"), Reuse::high) << "no tile";
}

}  // namespace
}  // namespace gpuprof
