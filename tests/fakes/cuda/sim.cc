#include "tests/fakes/cuda/sim.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <sstream>

#include "core/base/clock.h"

namespace fake_cuda {

bool Sim::set(const std::string& lines) {
    std::string text = lines;
    std::replace(text.begin(), text.end(), ';', '\n');
    std::istringstream stream(text);
    bool good = true;
    for (std::string line; std::getline(stream, line);) good = set_line(line) && good;
    return good;
}

bool Sim::set_kernel(std::istream& words) {
    int number = 0;
    Kernel kernel;
    std::uint64_t seed = 1;
    if (!(words >> number >> kernel.kind >> kernel.ns)) return false;
    if (kernel.kind != "constant" && !(words >> kernel.share)) return false;
    if (words >> seed) kernel.random = gpuprof::measure::Random(seed);
    kernels_[number] = kernel;
    return kernel.kind == "constant" || kernel.kind == "normal" || kernel.kind == "lognormal" ||
           kernel.kind == "bimodal";
}

bool Sim::set_line(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string verb;
    if (!(words >> verb)) return true;
    if (verb == "kernel") return set_kernel(words);
    if (verb == "current") return current = true;
    if (verb == "live") {
        live_since_ = static_cast<double>(gpuprof::monotonic_ns()) - host;
        return live_ = true;
    }
    if (verb == "first") {
        int number = 0;
        words >> number;
        return static_cast<bool>(words >> kernels_[number].slow_runs >> kernels_[number].slow_factor);
    }
    if (verb == "throttle") return static_cast<bool>(words >> throttle_from >> throttle_to >> throttle_factor);
    if (verb == "attribute") {
        int number = 0;
        return words >> number && words >> attributes[number];
    }
    if (verb == "name") return static_cast<bool>(std::getline(words >> std::ws, name));
    if (verb == "fail") {
        Rule rule;
        std::string after;
        if (!(words >> rule.function >> rule.code)) return false;
        if (words >> after && !(words >> rule.after)) return false;
        rules_.push_back(rule);
        return true;
    }
    std::map<std::string, double*> numbers = {{"drift", &drift_per_s_},     {"cold", &cold_},
                                              {"launch_ns", &launch_ns_},   {"call_ns", &call_ns_},
                                              {"latency_ns", &latency_ns_}, {"resolution_ns", &resolution_ns_}};
    std::map<std::string, std::size_t*> sizes = {{"queue", &queue_}, {"l2", &l2}, {"memory", &memory}};
    if (numbers.count(verb) != 0) return static_cast<bool>(words >> *numbers[verb]);
    if (sizes.count(verb) != 0) return static_cast<bool>(words >> *sizes[verb]);
    return false;
}

int Sim::enter(const char* function, bool launches) {
    if (live_) advance(0);  // first, so that a hold was let go of at about this time
    poll();
    if (!live_) advance(launches ? launch_ns_ : call_ns_);
    std::int64_t before = calls[function]++;
    for (const Rule& rule : rules_)
        if (rule.function == function && before >= rule.after) return rule.code;
    return 0;
}

void Sim::advance(double ns) {
    host = live_ ? std::max(host, static_cast<double>(gpuprof::monotonic_ns()) - live_since_) : host + ns;
}

void Sim::wait_until(double time) {
    host = std::max(host, time);
    if (!live_) return;
    while (static_cast<double>(gpuprof::monotonic_ns()) - live_since_ < host) {
    }
}

// The host wrote its word between two calls: the stream goes on from now.
void Sim::poll() {
    for (auto& [handle, stream] : streams_) {
        if (!stream.held) continue;
        if (stream.words[0] != 0) {
            let_go(stream, std::max(host, stream.hold_begin));
        } else if (host >= stream.hold_begin + stream.hold_timeout) {
            stream.words[1] = 1;
            let_go(stream, stream.hold_begin + stream.hold_timeout);
        }
    }
}

void Sim::let_go(Stream& stream, double time) {
    stream.held = false;
    stream.ready = time;
    std::deque<Op> queue;
    queue.swap(stream.queue);
    for (const Op& op : queue) execute(stream, op);
}

double Sim::duration_of(int number, double start) {
    Kernel& kernel = kernels_[number];
    double ns = kernel.ns, noise = kernel.share * kernel.random.normal();
    if (kernel.kind == "normal") ns *= 1 + noise;
    if (kernel.kind == "lognormal") ns *= std::exp(noise);
    if (kernel.kind == "bimodal") ns *= (kernel.random.uniform() < 0.7 ? 1 : 1.1) + noise;
    if (kernel.runs < kernel.slow_runs)
        ns *= 1 +
              (kernel.slow_factor - 1) * (1 - static_cast<double>(kernel.runs) / static_cast<double>(kernel.slow_runs));
    ++kernel.runs;
    if (start >= throttle_from && start < throttle_to) ns *= throttle_factor;
    if (flushed_) ns *= cold_;
    flushed_ = false;
    return ns * (1 + drift_per_s_ * start / 1e9);
}

void Sim::execute(Stream& stream, const Op& op) {
    constexpr double kBytesPerNs = 2000;
    if (stream.held) return stream.queue.push_back(op);  // a second hold in the queue
    double start = std::max(stream.ready, op.submitted + latency_ns_);
    stream.ready = start;
    switch (op.kind) {
        case Op::kernel: stream.ready += duration_of(op.number, start); break;
        case Op::memset:
            stream.ready += static_cast<double>(op.bytes) / kBytesPerNs;
            flushed_ = flushed_ || op.bytes >= l2;
            break;
        case Op::record:
            op.event->recorded = true;
            op.event->time = resolution_ns_ > 0 ? std::floor(start / resolution_ns_) * resolution_ns_ : start;
            break;
        case Op::hold:
            stream.held = true;
            stream.hold_begin = start, stream.hold_timeout = op.timeout, stream.words = op.words;
            break;
    }
}

void Sim::submit(Stream& stream, Op op) {
    op.submitted = host;
    if (!stream.held) return execute(stream, op);
    if (stream.queue.size() >= queue_) {
        wait(stream);
        op.submitted = host;
        return execute(stream, op);
    }
    if (op.kind == Op::record) op.event->recorded = false;
    stream.queue.push_back(op);
}

void Sim::wait(Stream& stream) {
    poll();
    while (stream.held) {
        wait_until(stream.hold_begin + stream.hold_timeout);
        poll();
    }
    wait_until(stream.ready);
}

void Sim::wait_all() {
    for (auto& [handle, stream] : streams_) wait(stream);
}

Sim& sim() {
    // Never destroyed: calls come in while the process ends.
    static Sim*& current = *new Sim*(nullptr);
    if (current == nullptr) {
        current = new Sim;
        const char* named = std::getenv("GPUPROF_FAKE_CUDA_SIM");
        if (named != nullptr && !current->set(named)) {
            std::fprintf(stderr, "fake libcuda: GPUPROF_FAKE_CUDA_SIM is not understood; see tests/fakes/cuda/sim.h\n");
            std::abort();
        }
    }
    return *current;
}

}  // namespace fake_cuda
