// A spool file that any thread may write to: the program's threads write what must be on disk before their next call, or
// what is valid within a callback only. The collector's own file belongs to one thread (spool_file.h).
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string_view>

#include "collect/inject/process_meta.h"
#include "collect/inject/spool/spool_file.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

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

}  // namespace gpuprof::inject
