#include "core/importers/peekable.h"

#include <algorithm>
#include <cstring>

namespace gpuprof {

Status PeekableSource::fill() {
    head_.resize(kHeadBytes);
    Result<std::size_t> got = bytes_->read(head_.data(), kHeadBytes);
    if (!got) return got.error();
    head_.resize(*got);
    return {};
}

Result<std::size_t> PeekableSource::read(char* into, std::size_t size) {
    std::size_t from_head = std::min(size, head_.size() - taken_);
    if (from_head > 0) std::memcpy(into, head_.data() + taken_, from_head);
    taken_ += from_head;
    if (from_head == size) return size;
    Result<std::size_t> rest = bytes_->read(into + from_head, size - from_head);
    if (!rest) return rest;
    return from_head + *rest;
}

}  // namespace gpuprof
