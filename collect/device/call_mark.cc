#include "collect/device/call_mark.h"

#include <algorithm>

#include "core/base/clock.h"

namespace gpuprof {
namespace {

volatile CallMark* shared_mark = nullptr;

}  // namespace

void share_call_mark(volatile CallMark* mark) { shared_mark = mark; }

MarkedCall::MarkedCall(std::string_view function) {
    if (shared_mark == nullptr) return;
    std::size_t length = std::min(function.size(), sizeof(CallMark::function) - 1);
    for (std::size_t i = 0; i < length; ++i) shared_mark->function[i] = function[i];
    shared_mark->function[length] = '\0';
    shared_mark->entered_ns = monotonic_ns();
}

MarkedCall::~MarkedCall() {
    if (shared_mark != nullptr) shared_mark->entered_ns = 0;
}

}  // namespace gpuprof
