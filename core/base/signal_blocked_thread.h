// A thread of ours inside another program: it must never take a signal that is meant for that program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace gpuprof::inline base {

// Runs `body` on a thread that blocks all signals.
template <class Body>
std::thread signal_blocked_thread(Body&& body) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    struct Restore {
        const sigset_t& before;
        ~Restore() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    } restore{before};  // even if the system refuses the thread
    return std::thread(std::forward<Body>(body));
}

}  // namespace gpuprof::base
