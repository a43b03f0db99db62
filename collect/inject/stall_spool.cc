#include "collect/inject/stall_spool.h"

#include <algorithm>
#include <cstring>

#include "collect/inject/cupti_failure.h"
#include "collect/inject/process_facts.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {
namespace {

class Locked {
public:
    explicit Locked(pthread_mutex_t& lock) noexcept : lock_(lock) { pthread_mutex_lock(&lock_); }
    ~Locked() { pthread_mutex_unlock(&lock_); }
    Locked(const Locked&) = delete;

private:
    pthread_mutex_t& lock_;
};

std::string_view bytes_of(const auto& record) noexcept {
    return {reinterpret_cast<const char*>(&record), sizeof record};
}

}  // namespace

bool StallSpool::open(const char* folder) noexcept {
    Locked locked(lock_);
    if (!file_.open(folder)) return false;
    write_process_facts(file_);
    return true;
}

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
    Locked locked(lock_);
    std::uint64_t* end = known_ + known_count_;
    if (std::find(known_, end, hash) != end) return false;
    if (known_count_ < kMaxCubins) known_[known_count_++] = hash;
    return true;
}

void StallSpool::write_new_cubin(const spool::CubinKey& key, std::string_view cubin) noexcept {
    Locked locked(lock_);
    bool fits = cubin.size() <= kMaxPayloadBytes / 2 && cubin_bytes_ + cubin.size() <= kMaxCubinBytes;
    if (!file_.write(ChunkKind::spool_cubin, bytes_of(key), fits ? cubin : std::string_view())) return;
    if (fits) cubin_bytes_ += cubin.size();
}

// All GPUs of a process have the same reasons, unless their architectures differ; the first ones count.
void StallSpool::write_reasons(std::string_view reasons) noexcept {
    Locked locked(lock_);
    if (!reasons_written_) reasons_written_ = file_.write(ChunkKind::spool_stall_reasons, reasons);
}

void StallSpool::write_read(std::string_view payload) noexcept {
    Locked locked(lock_);
    if (!payload.empty()) file_.write(ChunkKind::spool_stall_read, payload);
}

void StallSpool::write_counts(std::string_view payload) noexcept {
    Locked locked(lock_);
    if (!payload.empty()) file_.write(ChunkKind::spool_sass_counts, payload);
}

void StallSpool::write_failure(const char* function, int code, std::uint32_t device) noexcept {
    spool::StallFailure failure{device, static_cast<std::uint32_t>(code), {}};
    std::strncpy(failure.function, function, sizeof failure.function - 1);
    Locked locked(lock_);
    file_.write(ChunkKind::spool_stall_failure, bytes_of(failure));
}

void StallSpool::write_refusal(std::string_view sentence) noexcept {
    Locked locked(lock_);
    file_.write(ChunkKind::spool_refused, sentence);
}

void StallSpool::finish() noexcept {
    Locked locked(lock_);
    if (file_.is_open()) file_.write(ChunkKind::end, {});
}

}  // namespace gpuprof::inject
