#include "collect/inject/host/python_stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "collect/inject/settings.h"
#include "collect/python/debug_offsets.h"

namespace gpuprof::inject {
namespace {

constinit std::atomic<const char*> refusal{""};

python::Address symbol(const char* name) noexcept {
    return reinterpret_cast<python::Address>(dlsym(RTLD_DEFAULT, name));
}

// Of Python 3.minor; 0 if unknown. Py_Version exists since 3.11; 0x030B07F0 is 3.11.7.
std::uint32_t minor_version() noexcept {
    if (const auto* version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version")))
        return *version >> 24 == 3 ? static_cast<std::uint32_t>(*version >> 16 & 0xFF) : 0;
    auto* text = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
    const char* version = text != nullptr ? text() : "";
    return std::strncmp(version, "3.", 2) == 0 ? static_cast<std::uint32_t>(std::strtoul(version + 2, nullptr, 10)) : 0;
}

}  // namespace

const char* python_refusal() noexcept { return refusal.load(std::memory_order_relaxed); }

PythonStack::PythonStack(const python::Layout& layout, python::RuntimeAddresses addresses)
    : memory_(getpid()), reader_(memory_, layout, addresses, static_cast<int>(settings().stack_depth)) {}

PythonStack* PythonStack::make() noexcept {
    python::RuntimeAddresses addresses{symbol("_PyRuntime"), symbol("PyCode_Type"), symbol("PyUnicode_Type"),
                                       symbol("PyBytes_Type")};
    if (addresses.runtime == 0) return nullptr;
    python::ProcessMemory memory(getpid());
    if (!memory.pointer(addresses.runtime)) {
        refusal.store("the system does not allow process_vm_readv", std::memory_order_relaxed);
        return nullptr;
    }
    std::uint32_t minor = minor_version();
    std::optional<python::Layout> layout =
        minor >= 13 ? python::read_layout(memory, addresses.runtime) : python::layout_of(minor);
    if (!layout) {
        refusal.store("this version of Python is unknown", std::memory_order_relaxed);
        return nullptr;
    }
    return new (std::nothrow) PythonStack(*layout, addresses);
}

std::string_view PythonStack::read() noexcept {
    const python::ThreadStack* stack = reader_.read_thread(static_cast<std::uint64_t>(pthread_self()));
    return stack == nullptr ? std::string_view() : std::string_view(stack->frames);
}

}  // namespace gpuprof::inject
