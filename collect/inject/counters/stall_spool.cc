#include "collect/inject/counters/stall_spool.h"

#include <algorithm>

#include "collect/inject/cupti/cupti_failure.h"
#include "core/base/text/copy_cut.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {
void StallSpool::write_module(const Cupti& cupti, const void* about) noexcept {
    if (about == nullptr) return;
    const auto& module = *static_cast<const pcs::LoadedModule*>(about);
    if (module.cubin == nullptr || module.bytes == 0) return;
    std::string_view cubin(module.cubin, module.bytes);
    std::uint64_t hash = image_hash(cubin);
    if (!take(hash)) return;
    pcs::GetCubinCrc key;
    key.bytes = module.bytes;
    key.cubin = module.cubin;
    int code = cupti.cuptiGetCubinCrc == nullptr ? kFunctionMissing : cupti.cuptiGetCubinCrc(&key);
    if (code != kCuptiSuccess) write_failure("cuptiGetCubinCrc", code, 0);
    write_new_cubin({code == kCuptiSuccess ? key.crc : 0, hash, cubin.size()}, cubin);
}

// Whether it is new. Those after the last place are written again at every load.
bool StallSpool::take(std::uint64_t hash) noexcept {
    Turn turn(lock_);
    std::uint64_t* end = known_ + known_count_;
    if (std::find(known_, end, hash) != end) return false;
    if (known_count_ < kMaxCubins) known_[known_count_++] = hash;
    return true;
}

void StallSpool::write_new_cubin(const spool::CubinKey& key, std::string_view cubin) noexcept {
    Turn turn(lock_);
    bool fits = cubin.size() <= kMaxPayloadBytes / 2 && cubin_bytes_ + cubin.size() <= kMaxCubinBytes;
    if (!file_.write(ChunkKind::spool_cubin, bytes_of(key), fits ? cubin : std::string_view())) return;
    if (fits) cubin_bytes_ += cubin.size();
}

// All GPUs of a process have the same reasons, unless their architectures differ; the first ones count.
void StallSpool::write_reasons(std::string_view reasons) noexcept {
    Turn turn(lock_);
    if (!reasons_written_) reasons_written_ = file_.write(ChunkKind::spool_stall_reasons, reasons);
}

void StallSpool::write_read(std::string_view payload) noexcept {
    Turn turn(lock_);
    if (!payload.empty()) file_.write(ChunkKind::spool_stall_read, payload);
}

void StallSpool::write_counts(std::string_view payload) noexcept {
    Turn turn(lock_);
    if (!payload.empty()) file_.write(ChunkKind::spool_sass_counts, payload);
}

void StallSpool::write_failure(const char* function, int code, std::uint32_t device) noexcept {
    spool::StallFailure failure{device, static_cast<std::uint32_t>(code), {}};
    copy_cut(failure.function, function);
    Turn turn(lock_);
    file_.write(ChunkKind::spool_stall_failure, bytes_of(failure));
}

void StallSpool::write_refusal(std::string_view sentence) noexcept {
    Turn turn(lock_);
    file_.write(ChunkKind::spool_refused, sentence);
}

}  // namespace gpuprof::inject
