#include "collect/python/process_memory.h"

#include <errno.h>
#include <sys/uio.h>

#include <algorithm>

namespace gpuprof::python {

bool ProcessMemory::read(Address address, void* into, std::size_t size) {
    iovec local{into, size}, remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};
    ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got == static_cast<ssize_t>(size)) return true;
    error_ = got < 0 ? errno : EFAULT;
    return false;
}

// One system call for up to kPieces addresses.
bool ProcessMemory::read_each(std::span<const Address> addresses, char* into, std::size_t size) {
    constexpr std::size_t kPieces = 128;
    iovec remote[kPieces];
    while (!addresses.empty()) {
        std::size_t count = std::min(kPieces, addresses.size());
        for (std::size_t i = 0; i < count; ++i)
            remote[i] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(addresses[i])), size};
        iovec local{into, count * size};
        ssize_t got = process_vm_readv(pid_, &local, 1, remote, count, 0);
        if (got != static_cast<ssize_t>(count * size)) {
            error_ = got < 0 ? errno : EFAULT;
            return false;
        }
        into += count * size;
        addresses = addresses.subspan(count);
    }
    return true;
}

void CopiedMemory::copy(Address begin, Address end) {
    copied_.clear();
    if (end <= begin) return;
    copied_.resize(end - begin);
    begin_ = begin;
    if (!memory_.read(begin, copied_.data(), copied_.size())) copied_.clear();
}

bool CopiedMemory::read(Address address, void* into, std::size_t size) {
    bool inside = address >= begin_ && size <= copied_.size() && address - begin_ <= copied_.size() - size;
    if (!inside) return memory_.read(address, into, size);
    std::memcpy(into, copied_.data() + (address - begin_), size);
    return true;
}

}  // namespace gpuprof::python
