#include "collect/inject/counters/counter_spool.h"

#include <algorithm>

#include "collect/inject/cupti/cupti_failure.h"
#include "core/base/text/copy_cut.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {

void CounterSpool::write_note(const spool::CounterLaunch& launch, const char* name) noexcept {
    Turn turn(lock_);
    scratch_.clear();
    scratch_.add_text(name);
    file_.write(ChunkKind::spool_counter_note, bytes_of(launch), scratch_.view());
}

void CounterSpool::write_image(std::uint64_t number, std::uint64_t took_ns, std::string_view image,
                               std::uint32_t dropped, const CuptiFailure& failure) noexcept {
    spool::CounterImage about{};
    about.number = number;
    about.took_ns = took_ns;
    about.code = static_cast<std::uint32_t>(failure.code);
    if (failure) {
        copy_cut(about.function, failure.function);
        image = {};
    } else {
        about.dropped = dropped;
        about.hash = image_hash(image);
    }
    Turn turn(lock_);
    file_.write(ChunkKind::spool_counter_image, bytes_of(about), image);
}

void CounterSpool::write_hung(std::uint64_t number, std::uint64_t ns) noexcept {
    Turn turn(lock_);
    scratch_.clear();
    scratch_.add(number);
    scratch_.add(ns);
    file_.write(ChunkKind::spool_counter_hung, scratch_.view());
}

void CounterSpool::skip(spool::CounterSkip reason, const char* name) noexcept {
    Turn turn(lock_);
    Skipped& skipped = skipped_[static_cast<std::size_t>(reason)];
    if (skipped.count++ == 0) copy_cut(skipped.first, name);
    skips_changed_ = true;
}

void CounterSpool::write_skips() noexcept {
    Turn turn(lock_);
    if (!skips_changed_) return;
    scratch_.clear();
    for (std::size_t i = 0; i < kReasons; ++i) {
        if (skipped_[i].count == 0) continue;
        scratch_.add(static_cast<std::uint8_t>(i));
        scratch_.add(skipped_[i].count);
        scratch_.add_text(skipped_[i].first);
    }
    skips_changed_ = !file_.write(ChunkKind::spool_counter_skips, scratch_.view());
}

void CounterSpool::finish() noexcept {
    write_skips();
    SharedSpool::finish();
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
