#include "measure/cuda_block.h"

#include <atomic>

namespace gpuprof::measure::cuda {
namespace {

// sm_50 and PTX 6.0: every driver since CUDA 9 can compile them for every device since Maxwell. %globaltimer counts ns.
constexpr const char* kPtx = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry gpuprof_hold(.param .u64 words, .param .u64 timeout_ns)
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [words];
    ld.param.u64 %rd2, [timeout_ns];
    cvta.to.global.u64 %rd3, %rd1;
    mov.u64 %rd4, %globaltimer;
WAIT:
    ld.volatile.global.u32 %r1, [%rd3];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra LET_GO;
    mov.u64 %rd5, %globaltimer;
    sub.u64 %rd6, %rd5, %rd4;
    setp.lt.u64 %p2, %rd6, %rd2;
    @%p2 bra WAIT;
    mov.u32 %r2, 1;
    st.volatile.global.u32 [%rd3+4], %r2;
LET_GO:
    ret;
}
)";
constexpr unsigned kPortable = 1, kMapped = 2;  // CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP

// The device sees the store immediately and in order.
void store(volatile std::uint32_t& word, std::uint32_t value) {
    std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(word)).store(value, std::memory_order_seq_cst);
}

}  // namespace

Status Block::open(const Api& api) {
    api_ = &api;
    if (Status loaded = api.module_load(&module_, kPtx); !loaded) return loaded;
    void* words = nullptr;
    if (Status made = api.host_alloc(&words, 2 * sizeof(std::uint32_t), kPortable | kMapped); !made) return made;
    words_ = static_cast<volatile std::uint32_t*>(words);
    if (Status mapped = api.host_pointer(&words_on_device_, words, 0); !mapped) return mapped;
    return api.module_function(&kernel_, module_, "gpuprof_hold");
}

Status Block::hold(Stream stream, DurNs timeout) {
    store(words_[0], 0);
    store(words_[1], 0);
    auto timeout_ns = static_cast<std::uint64_t>(timeout);
    void* parameters[] = {&words_on_device_, &timeout_ns};
    return api_->launch(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}

void Block::release() {
    if (words_ == nullptr) return;
    store(words_[0], 1);
}

bool Block::held() const { return words_ == nullptr || words_[1] == 0; }

void Block::close() {
    if (api_ == nullptr) return;
    // Failures cannot be reported here; the end of the process frees the rest.
    if (words_ != nullptr) (void)api_->host_free(const_cast<std::uint32_t*>(words_));
    if (module_ != nullptr) (void)api_->module_unload(module_);
    *this = Block();
}

}  // namespace gpuprof::measure::cuda
