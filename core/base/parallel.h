// Runs independent tasks on a few threads and waits for all of them. Tasks are taken in order, one at a time, so that uneven
// ones balance. Where the system refuses a thread, the others do its work.
#pragma once

#include <cstddef>
#include <functional>

namespace gpuprof {

// How many threads a computation may use here: at least 1, at most 8.
unsigned usual_threads();

// Calls run(task, worker) for every task below `tasks`; worker is below `threads`. The calling thread is worker 0.
void run_parallel(std::size_t tasks, unsigned threads,
                  const std::function<void(std::size_t task, unsigned worker)>& run);

}  // namespace gpuprof
