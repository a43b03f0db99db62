#include "collect/inject/counters/counter_spool.h"

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

}  // namespace gpuprof::inject
