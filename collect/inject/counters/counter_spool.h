// Spool files of this process in addition to the collector's own (core/format/spool.h), which any thread may write to: of kernel
// counters, and of warp samples.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string_view>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_failure.h"
#include "collect/inject/process_meta.h"
#include "collect/inject/spool/scratch.h"
#include "collect/inject/spool/spool_file.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

// A spool file that any thread may write to: the program's threads write what must be on disk before their next call, or
// what is valid within a callback only. The collector's own file belongs to one thread (spool_file.h).
class SharedSpool {
public:
    bool open(const char* folder) noexcept {
        Turn turn(lock_);
        if (!file_.open(folder)) return false;
        write_process_meta(file_);
        return true;
    }
    // In a forked child: the file belongs to the parent.
    void forget() noexcept { file_.forget(); }
    // Nothing if it was not opened.
    void finish() noexcept {
        Turn turn(lock_);
        if (!file_.is_open()) return;
        if (std::uint64_t count = file_.unwritten(); count > 0) {
            auto reason = spool::Lost::unwritten;
            file_.write(ChunkKind::spool_lost, bytes_of(reason), bytes_of(count));
        }
        file_.write(ChunkKind::end, {});
    }

protected:
    class Turn {
    public:
        explicit Turn(pthread_mutex_t& lock) noexcept : lock_(lock) { pthread_mutex_lock(&lock_); }
        ~Turn() { pthread_mutex_unlock(&lock_); }
        Turn(const Turn&) = delete;

    private:
        pthread_mutex_t& lock_;
    };
    static std::string_view bytes_of(const auto& record) noexcept {
        return {reinterpret_cast<const char*>(&record), sizeof record};
    }

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of everything here and in derived classes
    SpoolFile file_;
};

// Kernel counters: notes must be on disk before the launch that they announce, so that the program's threads write them.
class CounterSpool : public SharedSpool {
public:
    void write_note(const spool::CounterLaunch& launch, const char* name) noexcept;
    // `image`: empty if instructions were measured, whose counts are elsewhere.
    void write_image(std::uint64_t number, std::uint64_t took_ns, std::string_view image, std::uint32_t dropped,
                     const CuptiFailure& failure) noexcept;
    void write_hung(std::uint64_t number, std::uint64_t ns) noexcept;
    // Counts a launch that was not measured; written by write_skips().
    void skip(spool::CounterSkip reason, const char* name) noexcept;
    void write_skips() noexcept;
    void finish() noexcept;

private:
    static constexpr std::size_t kReasons = static_cast<std::size_t>(spool::CounterSkip::kinds);
    struct Skipped {
        std::uint64_t count = 0;
        char first[256] = {};
    };
    Scratch scratch_;
    Skipped skipped_[kReasons];
    bool skips_changed_ = false;
};

// Warp samples, or counters of instructions: cubins are written within the callback that announces them, because their bytes
// are valid only there, by the program's threads.
//
// A cubin is written once, by its hash, and at most kMaxCubinBytes of all of them; one that does not fit is named, so
// that its samples are known to lack lines.
class StallSpool : public SharedSpool {
public:
    // `module`: what the callback got (CUpti_ModuleResourceData); may be null.
    void write_module(const Cupti& cupti, const void* module) noexcept;
    void write_reasons(std::string_view reasons) noexcept;
    void write_read(std::string_view payload) noexcept;
    void write_counts(std::string_view payload) noexcept;
    void write_failure(const char* function, int code, std::uint32_t device) noexcept;
    void write_refusal(std::string_view sentence) noexcept;

private:
    static constexpr std::size_t kMaxCubins = 8192;
    static constexpr std::uint64_t kMaxCubinBytes = std::uint64_t{256} << 20;
    bool take(std::uint64_t hash) noexcept;
    void write_new_cubin(const spool::CubinKey& key, std::string_view cubin) noexcept;

    std::uint64_t known_[kMaxCubins] = {};
    std::size_t known_count_ = 0;
    std::uint64_t cubin_bytes_ = 0;
    bool reasons_written_ = false;
};

}  // namespace gpuprof::inject
