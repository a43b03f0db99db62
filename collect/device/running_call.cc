#include "collect/device/running_call.h"

#include <algorithm>

#include "core/base/clock.h"

namespace gpuprof::inline device {
namespace {

volatile RunningCall* shared_mark = nullptr;

}  // namespace

void share_running_call(volatile RunningCall* mark) { shared_mark = mark; }

RunningCallScope::RunningCallScope(std::string_view function) {
    if (shared_mark == nullptr) return;
    std::size_t length = std::min(function.size(), sizeof(RunningCall::function) - 1);
    for (std::size_t i = 0; i < length; ++i) shared_mark->function[i] = function[i];
    shared_mark->function[length] = '\0';
    shared_mark->entered_ns = monotonic_ns();
}

RunningCallScope::~RunningCallScope() {
    if (shared_mark != nullptr) shared_mark->entered_ns = 0;
}

}  // namespace gpuprof::device
