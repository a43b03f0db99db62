// Which launches a plan wants: kernels by name and shape, after the first launches of each, a few of each. Remembers
// every kernel that it has seen, in tables of fixed size. Kernels of collective libraries are recognised by name: they
// wait for other GPUs, so that replaying one hangs. Any thread.
#pragma once

#include <pthread.h>
#include <regex.h>

#include <cstdint>

#include "collect/inject/counters/counter_launch.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inject {

class KernelChoice {
public:
    enum class Verdict { unwanted, wanted, collective, no_room };

    // False: the pattern is not valid.
    bool start(const CounterPlan& plan) noexcept;
    struct Answer {
        Verdict verdict = Verdict::unwanted;
        std::uint64_t occurrence = 0;  // earlier launches of this name
        std::uint64_t typical_ns = 0;  // 0: unknown
        void* shape = nullptr;         // of a wanted launch
    };
    // One launch of the kernel with this mangled name.
    Answer see(const char* name, const LaunchArguments& arguments) noexcept;
    // A wanted launch whose turn came after others of its shape: whether it is still wanted. Counts it as measured, until
    // `take_back`.
    bool take(const Answer& wanted) noexcept;
    void take_back(void* shape) noexcept;

private:
    struct Name {
        std::uint64_t hash = 0, occurrences = 0;
        bool fits = false, collective = false;
    };
    struct Shape {
        std::uint64_t hash = 0, typical_ns = 0;
        std::uint32_t seen = 0, measured = 0;
        bool planned = false;
    };
    static constexpr std::size_t kNames = 1 << 14, kShapes = 1 << 15;
    Name* name_of(const char* name) noexcept;
    void judge_name(const char* name, Name& entry) noexcept;
    Shape* shape_of(const char* name, const Name& entry, const LaunchArguments& arguments) noexcept;

    Answer judge_launch(const char* name, const LaunchArguments& arguments) noexcept;

    const CounterPlan* plan_ = nullptr;
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of what follows
    bool by_pattern_ = false;
    regex_t pattern_{};
    Name* names_ = nullptr;
    Shape* shapes_ = nullptr;
};

}  // namespace gpuprof::inject
