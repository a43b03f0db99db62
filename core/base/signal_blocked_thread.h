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
    std::thread thread(std::forward<Body>(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace gpuprof::base
