#include "collect/inject/counters/kernel_choice.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/fnv.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inject {
namespace {

std::uint64_t hash_of(const void* bytes, std::size_t size, std::uint64_t hash = kFnvBasis) noexcept {
    return fnv1a({static_cast<const char*>(bytes), size}, hash) | 1;  // 0 is an empty entry
}

// The entry with this hash, or an empty one; null if the table is full.
template <class Entry>
Entry* find(Entry* table, std::size_t size, std::uint64_t hash) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        Entry& entry = table[(hash + i) & (size - 1)];
        if (entry.hash == hash || entry.hash == 0) return &entry;
    }
    return nullptr;
}

template <class Entry>
Entry* make_table(std::size_t size) noexcept {
    return static_cast<Entry*>(std::calloc(size, sizeof(Entry)));
}

bool same_shape(const PlannedKernel& kernel, const LaunchArguments& arguments) noexcept {
    return std::memcmp(kernel.grid, arguments.grid, sizeof arguments.grid) == 0 &&
           std::memcmp(kernel.block, arguments.block, sizeof arguments.block) == 0;
}

}  // namespace

bool KernelChoice::start(const CounterPlan& plan) noexcept {
    plan_ = &plan;
    names_ = make_table<Name>(kNames);
    shapes_ = make_table<Shape>(kShapes);
    if (plan.pattern.empty()) return names_ != nullptr && shapes_ != nullptr;
    std::string pattern(plan.pattern);
    int flags = REG_EXTENDED | REG_NOSUB;
    if (pattern.rfind("(?i)", 0) == 0) {
        pattern.erase(0, 4);
        flags |= REG_ICASE;
    }
    by_pattern_ = regcomp(&pattern_, pattern.c_str(), flags) == 0;
    return by_pattern_ && names_ != nullptr && shapes_ != nullptr;
}

void KernelChoice::judge_name(const char* name, Name& entry) noexcept {
    entry.collective = is_device_collective(name);
    std::string readable = demangled(name);
    if (!plan_->kernels.empty()) {
        for (const PlannedKernel& kernel : plan_->kernels) entry.fits = entry.fits || kernel.name == readable;
        return;
    }
    entry.fits = !by_pattern_ || regexec(&pattern_, readable.c_str(), 0, nullptr, 0) == 0;
}

KernelChoice::Name* KernelChoice::name_of(const char* name) noexcept {
    std::uint64_t hash = hash_of(name, std::strlen(name));
    Name* entry = find(names_, kNames, hash);
    if (entry != nullptr && entry->hash == 0) {
        entry->hash = hash;
        judge_name(name, *entry);
    }
    return entry;
}

KernelChoice::Shape* KernelChoice::shape_of(const char* name, const Name& entry,
                                            const LaunchArguments& arguments) noexcept {
    std::uint64_t hash =
        hash_of(arguments.block, sizeof arguments.block, hash_of(arguments.grid, sizeof arguments.grid, entry.hash));
    Shape* shape = find(shapes_, kShapes, hash);
    if (shape == nullptr || shape->hash != 0) return shape;
    shape->hash = hash;
    shape->planned = plan_->kernels.empty();
    if (shape->planned) return shape;
    std::string readable = demangled(name);
    for (const PlannedKernel& kernel : plan_->kernels) {
        if (kernel.name != readable || !same_shape(kernel, arguments)) continue;
        shape->planned = true;
        shape->typical_ns = kernel.typical_ns;
    }
    return shape;
}

KernelChoice::Answer KernelChoice::judge_launch(const char* name, const LaunchArguments& arguments) noexcept {
    Name* entry = name_of(name);
    if (entry == nullptr) return {Verdict::no_room};
    Answer answer{Verdict::unwanted, entry->occurrences++};
    if (!entry->fits) return answer;
    Shape* shape = shape_of(name, *entry, arguments);
    if (shape == nullptr) return {Verdict::no_room, answer.occurrence};
    if (!shape->planned || shape->seen++ < plan_->skip || shape->measured >= plan_->launches) return answer;
    answer.verdict = entry->collective ? Verdict::collective : Verdict::wanted;
    answer.typical_ns = shape->typical_ns;
    answer.shape = shape;
    return answer;
}

KernelChoice::Answer KernelChoice::see(const char* name, const LaunchArguments& arguments) noexcept {
    pthread_mutex_lock(&lock_);
    Answer answer = judge_launch(name, arguments);
    pthread_mutex_unlock(&lock_);
    return answer;
}

bool KernelChoice::take(const Answer& wanted) noexcept {
    pthread_mutex_lock(&lock_);
    auto& shape = *static_cast<Shape*>(wanted.shape);
    bool free = shape.measured < plan_->launches;
    if (free) ++shape.measured;
    pthread_mutex_unlock(&lock_);
    return free;
}

void KernelChoice::take_back(void* shape) noexcept {
    pthread_mutex_lock(&lock_);
    --static_cast<Shape*>(shape)->measured;
    pthread_mutex_unlock(&lock_);
}

}  // namespace gpuprof::inject
