// How long kernels would take after a change: on tensor cores, near the peaks of their device, fused, padded, in one layout, without waits for
// other ranks, or at the same time as others. A peak is
// never reached in full, so an effect is a range.
#pragma once

#include <cstdint>

#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// Which value of an uncertain quantity is taken: the central estimate, or an end of the range.
enum class Estimate : std::uint8_t { low, central, high };

template <class Value>
Value value_of(Estimate estimate, Value low, Value central, Value high) {
    switch (estimate) {
        case Estimate::low: return low;
        case Estimate::central: return central;
        case Estimate::high: return high;
    }
    return central;
}

// The gap in front of an op on its stream. An op that goes away takes it along: its length becomes minus the gap.
DurNs gap_into(const ReplayGraph& graph, const Scenario& scenario, Point op);

// FP32 matrix products on CUDA cores that arithmetic limits run as TF32 on tensor cores: at half the ratio of the two peaks; at
// Estimate::low twice as fast, at Estimate::high at the ratio. False without such kernels or without both peaks.
bool use_tensor_cores(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Matrix products and convolutions in TF32 that arithmetic limits run in 16 bits: 0.65 of their time (low 0.9, high the ratio of the
// peaks). So do those in FP32 on GPUs with tensor cores but no TF32: twice the ratio of the peaks.
bool use_half_products(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Kernels of operators with recorded shapes reach 80 % (low 60, high 100) of the arithmetic or memory peak that limits them. False
// if no shapes were recorded or no kernel would be faster. Kernels below 25 % of both peaks keep their time: something else limits
// them.
bool reach_peaks(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Kernels of optimizers that update one tensor at a time take a fourth of their time (low half, high a tenth), without gaps, and so do
// the calls and the host code of such an update. False without such updates.
bool fuse_optimizer(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Passes over the scores of attention go away (at Estimate::low two fifths of each remain). The products next to them become a fused
// kernel: with shapes, one at 55 % of the peak (low 35, high 85); with names alone 0.7 of their time (low 1, high 0.3).
bool fuse_attention(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Kernels that only change the layout of data take a tenth of their time (low half, high none). False without such kernels.
bool keep_layout(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Products on tensor cores by kernels for misaligned rows or much older GPUs: with shapes, as near to the peak as other products of the
// recording (60 % if there is none); with names alone, 0.5 or 0.7 of their time, by alignment. False without such products.
bool pad_products(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// What a compiler does to consecutive operators on one tensor: each chain of up to 64 consecutive elementwise kernels of a stream, with durations within a factor of three and no wait for
// one of them in between, becomes one kernel as long as the longest; at Estimate::low as long as that and 30 % of the rest.
bool fuse_elementwise(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Collectives wait `factor` of the time that they waited for ranks that came late; at Estimate::high those that did transfer as fast as a fast
// link does, too. False if none waited.
bool scale_peer_waits(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                      Estimate estimate);

// The transfers of collectives take `factor` of their time, or are hidden in part; at Estimate::low, what may be waiting for a late rank
// remains. False without collectives.
bool scale_transfers(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, double factor,
                     Estimate estimate);

// Kernels that run at the same time on one device in a replay. They share its multiprocessors and its memory, so that kernels that
// a change lets run together take longer than they did alone, by up to the time that they overlap.
struct KernelOverlap {
    DurNs kernels = 0;  // sum of durations
    DurNs overlap = 0;  // of which another kernel of the device had begun and not ended
};

// `times` is the replay of `scenario`.
KernelOverlap kernel_overlap(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times);

}  // namespace gpuprof::replay
