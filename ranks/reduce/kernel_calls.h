// Which calls of a communication library one of its kernels executes.
//
// Usually one, whose record names the kernel. A batch of sends and receives (`batch_isend_irecv`, a group of NCCL) is one
// kernel for several calls, with one rank or with several. The importer of Nsight Systems gives all of them the id of the
// kernel. PyTorch's records of such calls end before the kernel is launched, and the kernel names none of them (issue
// 194693 of pytorch/pytorch). They are the calls that its thread recorded since it last launched a kernel, if none of them
// launched one itself.
// Kernels of a CUDA graph have their launch in common and nothing of their own: which call each executes is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/facts/host/collective_records.h"

namespace gpuprof::inline ranks {

// Why it is unknown what a kernel executes.
enum class Undescribed : std::uint8_t { no, in_graph, several_transfers, no_record };

struct KernelCalls {
    Row record = kNoRow;  // of table collective: the only call, or the first of several that belong together
    Undescribed undescribed = Undescribed::no;
    CollectiveMessage message = {};  // of all calls
    std::vector<Row> batch = {};     // its sends and receives, if there are several
};

class CallsOfKernels {
public:
    explicit CallsOfKernels(const Trace& trace);

    // `kernel`: that of a collective.
    KernelCalls of(Row kernel) const;

private:
    bool is_in_graph(Row kernel) const;
    KernelCalls described(const std::vector<Row>& calls) const;

    const Trace& trace_;
    CollectiveRecords records_;
    std::unordered_map<Row, std::vector<Row>> batches_;  // by the api_call that launched them
};

}  // namespace gpuprof::ranks
