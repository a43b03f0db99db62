// Serialises the threads of all clients in calls that switch what CUPTI records: CUPTI requires that they are not
// concurrent. The lock is held during calls of CUPTI, whose callbacks never take the lock. If such a call never
// returns, the next thread waits for a second and then proceeds.
#pragma once

#include <pthread.h>
#include <time.h>

namespace gpuprof::inject {

class SwitchLock {
public:
    explicit SwitchLock(pthread_mutex_t& lock) noexcept : lock_(lock) {
        timespec until{};
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        held_ = pthread_mutex_timedlock(&lock_, &until) == 0;
    }
    ~SwitchLock() {
        if (held_) pthread_mutex_unlock(&lock_);
    }
    SwitchLock(const SwitchLock&) = delete;
    SwitchLock& operator=(const SwitchLock&) = delete;

private:
    pthread_mutex_t& lock_;
    bool held_ = false;
};

}  // namespace gpuprof::inject
