// Serialises the threads of all clients in calls that switch what CUPTI records: CUPTI requires that they are not
// concurrent. The lock is held during calls of CUPTI, whose callbacks never take the lock. If such a call never
// returns, the next thread waits for a second and then proceeds; within a callback of CUPTI it does so at once, because the
// other one may be waiting for a lock that CUPTI holds during callbacks.
#pragma once

#include <pthread.h>
#include <time.h>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

class SwitchLock {
public:
    explicit SwitchLock(pthread_mutex_t& lock) noexcept : lock_(lock) {
        held_ = pthread_mutex_trylock(&lock_) == 0;
        if (held_ || WithinCallback::here()) return;
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
