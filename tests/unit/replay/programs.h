// Programs for Machine, each with what makes its kind of edge matter: ten steps that are alike.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/replay/machine.h"

namespace gpuprof::test {

inline constexpr std::int64_t kCompute = 7, kCopies = 20, kComm = 24;
inline constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

inline void ten_steps(Machine& machine, const std::function<void(int)>& body) {
    for (int i = 0; i < 10; ++i) machine.step([&] { body(i); });
}

inline void kernels(Machine& machine, int count, DurNs time, const std::string& name = "gemm") {
    for (int i = 0; i < count; ++i) machine.launch(kCompute, time, name);
}

// The input takes most of a step; its copy blocks.
inline void input_bound(Machine& machine) {
    ten_steps(machine, [&](int) {
        machine.input(2'000'000);
        machine.blocking_copy(kCompute, 4 << 20, true);
        kernels(machine, 20, 60'000);
    });
}

// The backward pass is launched by a thread of its own. `.item()` at the end of each step.
inline void autograd(Machine& machine) {
    ten_steps(machine, [&](int) {
        machine.input(3'000'000);
        kernels(machine, 20, 20'000);
        machine.hand_over("autograd", [&] { kernels(machine, 15, 50'000); });
        kernels(machine, 5, 30'000);
        machine.copy(kCompute, 4, false);
        machine.synchronize(kCompute);
    });
}

// Launches run ahead until the queue is full.
inline void deep_queue(Machine& machine) {
    ten_steps(machine, [&](int) { kernels(machine, 400, 50'000); });
}

// A read of the loss after each of several parts of a step.
inline void many_items(Machine& machine) {
    ten_steps(machine, [&](int) {
        for (int part = 0; part < 5; ++part) {
            kernels(machine, 12, 30'000);
            machine.copy(kCompute, 4, false);
            machine.synchronize(kCompute);
            machine.work(50'000);
        }
    });
}

// Copies on a stream of their own, into one buffer: kernels wait for their copy, and the next copy for the kernels.
inline void one_buffer(Machine& machine) {
    ten_steps(machine, [&](int) {
        machine.order(kCompute, kCopies);
        machine.copy(kCopies, 32 << 20);
        machine.order(kCopies, kCompute);
        kernels(machine, 10, 120'000);
        machine.work(20'000);
    });
}

// Copies into two buffers: kernels wait for a copy that is not the last one, and the next copy for the kernels that read its buffer.
// The order of ops shows neither.
inline void two_buffers(Machine& machine) {
    machine.copy(kCopies, 32 << 20);
    Machine::Event filled = machine.record(kCopies), read = machine.record(kCompute);
    ten_steps(machine, [&](int) {
        Machine::Event ready = filled;
        machine.wait(kCopies, read);
        machine.copy(kCopies, 32 << 20);
        filled = machine.record(kCopies);
        machine.wait(kCompute, ready);
        kernels(machine, 10, 60'000);
        read = machine.record(kCompute);
        machine.work(20'000);
    });
}

// The host reads the result of the step before while the device works on the next one.
inline void late_results(Machine& machine) {
    kernels(machine, 10, 60'000);
    Machine::Event result = machine.record(kCompute);
    ten_steps(machine, [&](int) {
        kernels(machine, 10, 60'000);
        Machine::Event next = machine.record(kCompute);
        machine.synchronize(std::exchange(result, next));
        machine.work(100'000);
    });
}

// Gradients are reduced on a stream of their own while others are computed; the optimizer waits for all of them.
inline void all_reduce(Machine& machine) {
    ten_steps(machine, [&](int) {
        kernels(machine, 6, 100'000);
        for (int bucket = 0; bucket < 3; ++bucket) {
            kernels(machine, 4, 80'000);
            machine.order(kCompute, kComm);
            machine.launch(kComm, 400'000, kAllReduce);
        }
        machine.order(kComm, kCompute);
        kernels(machine, 4, 40'000);
        machine.synchronize_device();
    });
}

// Copies of pageable memory in both directions.
inline void pageable_copies(Machine& machine) {
    ten_steps(machine, [&](int) {
        machine.blocking_copy(kCompute, 16 << 20, true);
        kernels(machine, 10, 40'000);
        machine.blocking_copy(kCompute, 8 << 20, false);
        machine.work(30'000);
    });
}

// A blocking copy queues behind the kernels of the step before.
inline void copy_behind_kernels(Machine& machine) {
    ten_steps(machine, [&](int) {
        machine.blocking_copy(kCompute, 4 << 20, true);
        kernels(machine, 20, 60'000);
    });
}

// Allocates, works and releases: a release waits for the device.
inline void churn(Machine& machine) {
    machine.release();  // costs what it costs, with nothing to wait for
    ten_steps(machine, [&](int) {
        for (int i = 0; i < 4; ++i) {
            machine.allocate();
            kernels(machine, 6, 25'000);
        }
        machine.release();
    });
}

}  // namespace gpuprof::test
