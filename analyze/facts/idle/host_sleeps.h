// When the threads that submit device work slept because there was nothing to do: neither they nor another thread of the program
// worked, and no call of the driver was open. Sources, as far as they were recorded: scheduling (exact), CPU use (only intervals in
// which the thread hardly used a CPU), operating-system calls that do nothing but wait, and Python functions that do.
//
// A thread that is off the CPU is not always asleep: it may read a file, or wait for another thread that works for it. Such time is
// not here, so it counts as host work as before. Where nothing of the kind was recorded, there is no sleep.
#pragma once

#include <map>
#include <set>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct SleepingThread {
    IntervalSet for_work;   // until a request, a frame, a message, or a time came
    IntervalSet for_input;  // in a function of a data loader: until its workers had the next batch
    IntervalSet timed;      // part of for_work: for a set time
    IntervalSet received;   // part of for_work: for the bytes of one connection, a request's or an answer's
};

struct HostSleeps {
    std::map<StringId, SleepingThread> of_thread;  // of submitting threads that slept
    std::set<StringId> observed;                   // threads of which a source tells something
    static HostSleeps make(const Facts& facts);
};

}  // namespace gpuprof::facts
