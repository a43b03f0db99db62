#include "core/format/zstd_frame.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <cstring>
#include <new>

namespace gpuprof::inline format {
namespace {

// A plane shorter than this shares its neighbor's code table: a separate table costs more than it saves.
constexpr std::size_t kOwnTable = 2048;

}  // namespace

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()) {
    if (context_ != nullptr) ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

std::string_view Compressor::compress(std::string_view raw, std::span<const std::size_t> ends) {
    if (context_ == nullptr) return raw;
    out_.resize(ZSTD_compressBound(raw.size()) + 16 * (ends.size() + 1));
    ZSTD_CCtx_reset(context_, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(context_, raw.size());
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    ZSTD_inBuffer in{raw.data(), 0, 0};
    for (std::size_t end : ends) {
        if (end - in.pos < kOwnTable || end == raw.size()) continue;
        in.size = end;
        if (ZSTD_compressStream2(context_, &out, &in, ZSTD_e_flush) != 0) return raw;
    }
    in.size = raw.size();
    if (ZSTD_compressStream2(context_, &out, &in, ZSTD_e_end) != 0 || out.pos >= raw.size()) return raw;
    return std::string_view(out_).substr(0, out.pos);
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {}

Decompressor::~Decompressor() { ZSTD_freeDCtx(context_); }

bool Decompressor::decompress(std::string_view stored, char* into, std::size_t raw_size) {
    if (stored.size() == raw_size) {
        if (raw_size > 0) std::memcpy(into, stored.data(), raw_size);
        return true;
    }
    if (context_ == nullptr) throw std::bad_alloc();
    std::size_t written = ZSTD_decompressDCtx(context_, into, raw_size, stored.data(), stored.size());
    if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) throw std::bad_alloc();  // nothing is damaged
    return !ZSTD_isError(written) && written == raw_size;
}

}  // namespace gpuprof::format
