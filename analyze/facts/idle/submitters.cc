#include "analyze/facts/idle/submitters.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {

Submitters Submitters::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::map<StringId, std::uint64_t> counts;
    std::pair<const StringId, std::uint64_t>* last = nullptr;
    for (const auto* launches :
         {&trace.links().kernel_launch, &trace.links().memcpy_launch, &trace.links().memset_launch})
        for (Row call : *launches) {
            if (call == kNoRow || !trace.api_call().thread.has(call)) continue;
            StringId thread = trace.api_call().thread[call];
            if (last == nullptr || last->first != thread) last = &*counts.try_emplace(thread, 0).first;
            ++last->second;
        }
    Submitters found;
    found.is_one_.resize(trace.strings().size());
    for (const auto& [thread, count] : counts) {
        found.threads_.push_back(thread);
        found.is_one_[index_of(thread)] = true;
    }
    std::stable_sort(found.threads_.begin(), found.threads_.end(),
                     [&](StringId a, StringId b) { return counts.at(a) > counts.at(b); });
    return found;
}

}  // namespace gpuprof::facts
