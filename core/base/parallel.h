// Runs independent tasks on a few threads and waits for all of them. Threads take tasks in order, one at a time, which
// balances uneven ones. If the system refuses a thread, the others do its work.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace gpuprof::inline base {

// Number of threads that a computation may use here: 1 to 8.
unsigned default_threads();

// Calls run(task, worker) for every task below `tasks`; worker is below `threads`. The calling thread is worker 0. The first exception of a
// task ends the work: no further task begins, and it is thrown here when the threads have ended.
void run_parallel(std::size_t tasks, unsigned threads,
                  const std::function<void(std::size_t task, unsigned worker)>& run);

// Calls each of a few functions that do not depend on each other: at once if `items` (the amount of work) is large enough to be worth a
// thread, otherwise one after the other.
void run_together(std::size_t items, const std::vector<std::function<void()>>& functions);

}  // namespace gpuprof::base
