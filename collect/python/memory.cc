#include "collect/python/memory.h"

#include <errno.h>
#include <sys/uio.h>

namespace gpuprof::python {

bool ProcessMemory::read(Address address, void* into, std::size_t size) {
    iovec local{into, size}, remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};
    ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got == static_cast<ssize_t>(size)) return true;
    error_ = got < 0 ? errno : EFAULT;
    return false;
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
