// The memory of another process, or a simulated one in tests. Every read may fail, and the content may have changed
// since the previous read or be hostile:
// decoders check everything.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::python {

using Address = std::uint64_t;

class Memory {
public:
    virtual ~Memory() = default;
    // Reads all of [address, address + size), or returns false.
    virtual bool read(Address address, void* into, std::size_t size) = 0;

    // Reads `size` bytes at each address, one after the other; false if any could not be read.
    virtual bool read_each(std::span<const Address> addresses, char* into, std::size_t size) {
        for (Address address : addresses) {
            if (!read(address, into, size)) return false;
            into += size;
        }
        return true;
    }

    template <class T>
    std::optional<T> value(Address address) {
        T value{};
        return read(address, &value, sizeof value) ? std::optional<T>(value) : std::nullopt;
    }
    std::optional<Address> pointer(Address address) { return value<Address>(address); }
};

// Reads with process_vm_readv(2): the process is neither stopped nor traced, and notices nothing.
class ProcessMemory final : public Memory {
public:
    explicit ProcessMemory(pid_t pid) : pid_(pid) {}
    bool read(Address address, void* into, std::size_t size) override;
    bool read_each(std::span<const Address> addresses, char* into, std::size_t size) override;
    // errno of the last failed read.
    int error() const { return error_; }

private:
    pid_t pid_;
    int error_ = 0;
};

// A copy of one piece of another memory, taken at once; the rest is read as usual.
class CopiedMemory final : public Memory {
public:
    explicit CopiedMemory(Memory& memory) : memory_(memory) {}
    // Copies [begin, end); on failure nothing is copied, and reads go to the memory itself.
    void copy(Address begin, Address end);
    void forget() { copied_.clear(); }
    bool read(Address address, void* into, std::size_t size) override;

private:
    Memory& memory_;
    Address begin_ = 0;
    std::vector<char> copied_;
};

// The bytes of a structure that was read at once. Reads outside it return 0.
class Bytes {
public:
    static constexpr std::size_t kMaxBytes = 1024;
    // Whether `size` bytes, at most kMaxBytes, were read.
    bool fill(Memory& memory, Address address, std::size_t size) {
        size_ = size <= kMaxBytes && memory.read(address, bytes_, size) ? size : 0;
        return size_ > 0;
    }
    // A copy of `size` bytes, at most kMaxBytes.
    void assign(const char* bytes, std::size_t size) {
        size_ = size <= kMaxBytes ? size : 0;
        std::memcpy(bytes_, bytes, size_);
    }
    template <class T>
    T get(std::size_t offset) const {
        T value{};
        if (offset + sizeof value <= size_) std::memcpy(&value, bytes_ + offset, sizeof value);
        return value;
    }
    Address pointer(std::size_t offset) const { return get<Address>(offset); }

private:
    char bytes_[kMaxBytes];
    std::size_t size_ = 0;
};

}  // namespace gpuprof::python
