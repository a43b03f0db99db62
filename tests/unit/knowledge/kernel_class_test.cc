// Kernel classes: the table of names from real recordings, spellings of libraries that are in none of them, and names that must stay unknown.
#include "analyze/knowledge/kernel_class.h"
#include "tests/unit/importers/read_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace gpuprof {
namespace {

std::vector<std::string> split_tabs(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    return fields;
}

std::string detail_of(const KernelTraits& traits) {
    if (traits.kind == KernelClass::triton) return std::string(to_string(traits.triton_kind));
    if (!traits.collective) return "-";
    const CollectiveKernel& c = *traits.collective;
    std::string text(to_string(c.kind));
    for (std::string_view part : {c.dtype, c.reduction, c.algorithm, c.protocol}) text.append(",").append(part);
    return text;
}

TEST(KernelClass, ReadsEveryNameOfTheRecordings) {
    std::istringstream table(test::fixture("kernel_names.tsv.zst"));
    int names = 0;
    for (std::string line; std::getline(table, line);) {
        if (line.starts_with('#')) continue;
        const std::vector<std::string> row = split_tabs(line);
        ASSERT_EQ(row.size(), 7u) << line;
        SCOPED_TRACE(row[6]);
        const KernelTraits traits = classify_kernel(row[6]);
        EXPECT_EQ(to_string(traits.kind), row[0]);
        EXPECT_EQ(to_string(traits.math.unit), row[1]);
        EXPECT_EQ(to_string(traits.math.type), row[2]);
        EXPECT_EQ(to_string(traits.conv), row[3]);
        EXPECT_EQ(traits.strided ? "strided" : "-", row[4]);
        EXPECT_EQ(detail_of(traits), row[5]);
        ++names;
    }
    EXPECT_GT(names, 250);
}

struct Expected {
    const char* name;
    KernelClass kind;
    MathUnit unit;
    MathType type;
};

// Names of libraries and generations that the recordings do not have, as their public sources and issue trackers show them.
constexpr Expected kOtherLibraries[] = {
    {"volta_sgemm_128x64_nn", KernelClass::gemm, MathUnit::simt, MathType::fp32},
    {"volta_dgemm_64x64_nn", KernelClass::gemm, MathUnit::simt, MathType::fp64},
    {"volta_h884gemm_256x128_ldg8_nn", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_tn", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"turing_h1688gemm_128x128_ldg8_stages_32x1_tn", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", KernelClass::gemm, MathUnit::tensor,
     MathType::bf16},
    {"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn", KernelClass::gemm, MathUnit::tensor,
     MathType::fp16},
    {"ampere_h16816gemm_128x128_ldg8_stages_32x5_tn", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"turing_int8_i8816gemm_int8_128x128_ldg16_stages_64x1_nt", KernelClass::gemm, MathUnit::tensor, MathType::int8},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_tn_align8>(cutlass_80::Params)",
     KernelClass::gemm, MathUnit::tensor, MathType::bf16},
    {"void cutlass::Kernel<cutlass_75_tensorop_s1688gemm_f16_128x128_32x2_nn_align8>(Params)", KernelClass::gemm,
     MathUnit::tensor, MathType::fp16},
    {"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_tn_align1>(Params)", KernelClass::gemm,
     MathUnit::tensor, MathType::fp64},
    {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x2_nn_align8>(Params)",
     KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_64x64x16_1x1x1_3_tnn_align1_bias_f32_relu", KernelClass::gemm,
     MathUnit::simt, MathType::fp32},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
     KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     KernelClass::gemm, MathUnit::tensor, MathType::bf16},
    {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_warpgroupsize1x1x1_bias_bf16_execute_kernel__5x_"
     "cublas",
     KernelClass::gemm, MathUnit::tensor, MathType::fp8},
    {"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8_kernel",
     KernelClass::gemm, MathUnit::tensor, MathType::tf32},
    {"sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_stage4_warpsize2x2x1_tensor8x8x4_kernel",
     KernelClass::gemm, MathUnit::tensor, MathType::fp64},
    {"nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", KernelClass::gemm, MathUnit::tensor, MathType::fp8},
    {"nvjet_sm90_hsh_128x128_64x6_1x2_h_bz_coopA_TNT", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"nvjet_sm100_sss_64x64_64x6_1x2_h_bz_TNT", KernelClass::gemm, MathUnit::tensor, MathType::unknown},
    {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN", KernelClass::gemm, MathUnit::tensor, MathType::fp16},
    {"Cijk_Alik_Bljk_SB_MT64x64x16_SE_K1", KernelClass::gemm, MathUnit::simt, MathType::fp32},
    {"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<float const> >()",
     KernelClass::gemm, MathUnit::simt, MathType::fp32},
    {"void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16>()", KernelClass::gemv, MathUnit::simt,
     MathType::fp32},
    {"void gemvNSP_kernel<double, double, double, double, 1, 16, 4, 1024>()", KernelClass::gemv, MathUnit::simt,
     MathType::fp64},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>>()",
     KernelClass::attention, MathUnit::tensor, MathType::bf16},
    {"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, cutlass::half_t>>()",
     KernelClass::attention, MathUnit::tensor, MathType::fp16},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
     KernelClass::attention, MathUnit::tensor, MathType::unknown},
    {"fmha_cutlassB_bf16_aligned_64x64_k64_sm80(Params)", KernelClass::attention, MathUnit::tensor, MathType::bf16},
    {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", KernelClass::convolution, MathUnit::simt,
     MathType::fp32},
    {"turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", KernelClass::convolution,
     MathUnit::tensor, MathType::fp16},
    {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true, false, true>()",
     KernelClass::convolution, MathUnit::simt, MathType::fp32},
    {"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>()",
     KernelClass::convolution, MathUnit::simt, MathType::fp32},
};

TEST(KernelClass, ReadsOtherLibraries) {
    for (const Expected& expected : kOtherLibraries) {
        SCOPED_TRACE(expected.name);
        const KernelTraits traits = classify_kernel(expected.name);
        EXPECT_EQ(to_string(traits.kind), to_string(expected.kind));
        EXPECT_EQ(to_string(traits.math.unit), to_string(expected.unit));
        EXPECT_EQ(to_string(traits.math.type), to_string(expected.type));
    }
}

TEST(KernelClass, TellsConvolutionAlgorithmsApart) {
    EXPECT_EQ(classify_kernel("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1").conv,
              ConvAlgorithm::winograd);
    EXPECT_EQ(classify_kernel("void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>()").conv,
              ConvAlgorithm::winograd);
    EXPECT_EQ(classify_kernel("void at::native::im2col_kernel<float>()").conv, ConvAlgorithm::explicit_gemm);
    EXPECT_EQ(classify_kernel("void conv_depthwise2d_forward_kernel<3, float, int>()").conv, ConvAlgorithm::depthwise);
    EXPECT_EQ(classify_kernel("void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, float>()").conv,
              ConvAlgorithm::direct);
}

TEST(KernelClass, TakesCollectivesApart) {
    const auto parse = [](const char* name) { return classify_kernel(name).collective.value(); };
    EXPECT_EQ(parse("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
              (CollectiveKernel{CollectiveKind::all_reduce, "fp32", "sum", "ring", "ll"}));
    EXPECT_EQ(parse("_Z43ncclDevKernel_AllReduce_Sum_bf16_TREE_LL12824ncclDevKernelArgsStorageILm4096EE"),
              (CollectiveKernel{CollectiveKind::all_reduce, "bf16", "sum", "tree", "ll128"}));
    EXPECT_EQ(parse("ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_SIMPLE(ncclDevKernelArgsStorage<4096ul>)"),
              (CollectiveKernel{CollectiveKind::reduce_scatter, "bf16", "sum", "nvls", "simple"}));
    EXPECT_EQ(parse("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
              (CollectiveKernel{CollectiveKind::all_gather, "", "", "ring", "ll"}));
    EXPECT_EQ(parse("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)").kind, CollectiveKind::send_recv);
    EXPECT_EQ(parse("ncclDevKernel_Reduce_Sum_f64_RING_SIMPLE()"),
              (CollectiveKernel{CollectiveKind::reduce, "fp64", "sum", "ring", "simple"}));
    EXPECT_EQ(parse("ncclAllReduceRingLLKernel_sum_f16(ncclWorkElem)"),
              (CollectiveKernel{CollectiveKind::all_reduce, "fp16", "sum", "ring", "ll"}));
    EXPECT_EQ(parse("ncclAllReduceTreeLL128Kernel_sum_f32(ncclColl)"),
              (CollectiveKernel{CollectiveKind::all_reduce, "fp32", "sum", "tree", "ll128"}));
    // RCCL and rare NCCL combinations: a collective, which one only its record can tell.
    EXPECT_EQ(parse("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"), CollectiveKernel{});
    EXPECT_EQ(parse("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>()").kind, CollectiveKind::all_reduce);
    EXPECT_EQ(parse("void one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>()").kind, CollectiveKind::all_reduce);
}

TEST(KernelClass, ReadsTheKindOfACollectiveFromItsArgument) {
    EXPECT_EQ(collective_kind("_allgather_base"), CollectiveKind::all_gather);
    EXPECT_EQ(collective_kind("_reduce_scatter_base"), CollectiveKind::reduce_scatter);
    EXPECT_EQ(collective_kind("all_to_all_single"), CollectiveKind::all_to_all);
    EXPECT_EQ(collective_kind("allreduce"), CollectiveKind::all_reduce);
    EXPECT_EQ(collective_kind("wait"), CollectiveKind::unknown);
    EXPECT_EQ(collective_kind(""), CollectiveKind::unknown);
}

TEST(KernelClass, SeparatesInductorsKernels) {
    EXPECT_EQ(classify_kernel("triton_red_fused_native_layer_norm_3").triton_kind, TritonKind::reduction);
    EXPECT_EQ(classify_kernel("triton_per_fused__softmax_1").triton_kind, TritonKind::persistent_reduction);
    EXPECT_EQ(classify_kernel("triton_tem_fused_mm_12").triton_kind, TritonKind::matmul_template);
}

// A product for rows aligned to fewer than 16 bytes, and the GPU that a kernel was written for.
TEST(KernelClass, ReadsAlignmentAndArchitectureOfProducts) {
    struct Named {
        const char* name;
        int alignment, architecture;
        bool misaligned;
    };
    const Named kNamed[] = {
        {"cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", 1, 75, true},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_tn_align8>(Params)", 8, 80,
         false},
        {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align4>(Params)", 4, 80, false},  // TF32
        {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align2>(Params)", 2, 80, true},
        {"volta_h884gemm_256x128_ldg8_nn", 0, 70, false},
        {"nvjet_sm100_sss_64x64_64x6_1x2_h_bz_TNT", 0, 100, false},
        {"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_64x64x16_1x1x1_3_tnn_align1_bias_f32_relu", 0, 0,
         false},  // CUDA cores
        {"my_align1_kernel", 0, 0, false},
    };
    for (const Named& each : kNamed) {
        SCOPED_TRACE(each.name);
        const KernelTraits traits = classify_kernel(each.name);
        EXPECT_EQ(traits.alignment, each.alignment);
        EXPECT_EQ(traits.architecture, each.architecture);
        EXPECT_EQ(is_misaligned(traits), each.misaligned);
    }
}

TEST(KernelClass, LeavesTheUnknownUnknown) {
    for (const char* name :
         {"", "_", "addk", "my_kernel(float*)", "void kernel<1>()", "nccl", "triton", "nvjet", "Cijk_", "xmma_"}) {
        SCOPED_TRACE(name);
        EXPECT_EQ(classify_kernel(name).math.type, MathType::unknown);
    }
    EXPECT_EQ(classify_kernel("my_kernel(float*)").kind, KernelClass::other);
    // A user's own GEMM: the class is plain, the arithmetic is not.
    EXPECT_EQ(classify_kernel("gemm_naive(int, float const*, float const*, float*)").kind, KernelClass::gemm);
    EXPECT_EQ(classify_kernel("gemm_naive(int, float const*, float const*, float*)").math, MathPath{});
    // FBGEMM's namespace does not make a kernel a GEMM.
    EXPECT_EQ(classify_kernel("void fbgemm_gpu::some_new_kernel<float>()").kind, KernelClass::other);
}

}  // namespace
}  // namespace gpuprof
