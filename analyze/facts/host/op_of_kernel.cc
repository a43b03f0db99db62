#include "analyze/facts/host/op_of_kernel.h"

#include <optional>

#include "analyze/facts/host/op_tree.h"

namespace gpuprof::inline facts {

OpOfKernel::OpOfKernel(const Trace& trace) : trace_(trace), timeline_(trace, {HostKind::op}) {
    std::unordered_map<std::uint32_t, StringId> process_of;
    const ThreadTable& threads = trace.tables().thread;
    for (Row row = 0; row < threads.rows; ++row)
        process_of[index_of(threads.key[row])] = threads.process.value_or(row, kNoString);
    const OpTable& ops = trace.op();
    for (Row row = 0; row < ops.rows; ++row)
        if (ops.external_id.has(row))
            by_id_.emplace(Key{index_of(process_of[index_of(ops.thread[row])]), ops.external_id[row]}, row);
}

Row OpOfKernel::find(Row kernel) {
    const KernelTable& kernels = trace_.kernel();
    std::optional<std::int64_t> link = op_link(kernels, kernel);
    if (!link) return open_at_launch(kernel);
    auto found = by_id_.find(Key{index_of(kernels.process.value_or(kernel, kNoString)), *link});
    return found == by_id_.end() ? kNoRow : found->second;
}

Row OpOfKernel::open_at_launch(Row kernel) {
    Row launch = trace_.links().kernel_launch[kernel];
    const ApiCallTable& calls = trace_.api_call();
    if (launch == kNoRow || !calls.thread.has(launch)) return kNoRow;
    StringId key = calls.thread[launch];
    auto [known, added] = threads_.try_emplace(index_of(key));
    if (added) known->second = timeline_.spans(key);
    std::uint32_t open = known->second.innermost_at(calls.start[launch]);
    return open == kNoSpan ? kNoRow : known->second.spans[open].row;
}

}  // namespace gpuprof::facts
