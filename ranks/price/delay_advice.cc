#include "ranks/price/delay_advice.h"

namespace gpuprof::inline ranks {

std::string_view advice_on(DelayCause cause) {
    switch (cause) {
        case DelayCause::slow_gpu:
            return "Compare the clock, temperature, power limit and throttle reasons of this GPU with those of its "
                   "peers (gpu-profile top); if they agree, run the job without this GPU.";
        case DelayCause::more_work:
            return "Balance the work: compare the sequence lengths, experts or layers of this rank with those of its "
                   "peers.";
        case DelayCause::late_data:
            return "Prepare batches earlier: more DataLoader workers or a larger prefetch_factor; compare the storage "
                   "and CPU load of this host with those of the others.";
        case DelayCause::pause:
            return "Find what runs in these steps: a checkpoint, an evaluation, a garbage collection. Collect garbage "
                   "in the same step on all ranks (gc.disable(), then gc.collect()).";
        case DelayCause::slow_host:
            return "Compare the CPU load, frequency and pinning of this host with those of the others; a CUDA graph "
                   "needs fewer launches.";
        case DelayCause::slow_link:
            return "Check the network cards, cables and switch ports of these ranks, and the paths that NCCL chose "
                   "(NCCL_DEBUG=INFO).";
        case DelayCause::copies:
            return "Copy from pinned memory, and compare the PCIe generation and width of this GPU with those of its "
                   "peers (nvidia-smi -q).";
        case DelayCause::unknown: return "Open the recording of this rank at a step in which it is late.";
    }
    return "";
}

}  // namespace gpuprof::ranks
