// Fuzz target of the decompressing layers. The first byte chooses: bytes that are taken for compressed ones as they are, which must give
// the same in pieces of any size; or bytes that are compressed here, in one or several members, and cut off, which must give what
// was before the cut, and say that it was one. And the sections of captures (zstd_frame.h), of any claimed size.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/format/zstd_frame.h"
#include "io/importers/source/source.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

constexpr std::size_t kMaxRead = std::size_t{2} << 20;  // more tells nothing new

struct Delivered {
    std::string text;
    bool damaged = false, opened = false;
};

Delivered deliver(std::string_view bytes, std::size_t piece_bytes) {
    Delivered all;
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", bytes);
    if (!source) return all;
    all.opened = true;
    std::vector<char> piece(piece_bytes);
    while (all.text.size() < kMaxRead) {
        Result<std::size_t> got = (*source)->read(piece.data(), piece.size());
        if (!got || *got == 0) break;
        promise(*got <= piece.size(), "no more than fits");
        all.text.append(piece.data(), *got);
    }
    all.damaged = (*source)->damaged();
    return all;
}

std::string as_gzip(std::string_view raw) {
    constexpr int kGzipWindow = 15 + 16;
    z_stream stream{};
    promise(deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib begins");
    std::string out(deflateBound(&stream, raw.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream.avail_in = static_cast<uInt>(raw.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    promise(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib ends");
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string as_zstd(std::string_view raw) {
    std::string out(ZSTD_compressBound(raw.size()), '\0');
    std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 1);
    promise(ZSTD_isError(size) == 0, "zstd compresses");
    out.resize(size);
    return out;
}

void check_cut(Choices& choices, bool zstd, std::size_t members, std::size_t piece) {
    std::size_t cut = choices.two_bytes();
    std::string_view raw = choices.rest();
    std::string compressed;
    bool at_end = false;
    for (std::size_t i = 0; i < members; ++i) {
        std::string_view part =
            raw.substr(raw.size() * i / members, raw.size() * (i + 1) / members - raw.size() * i / members);
        compressed += zstd ? as_zstd(part) : as_gzip(part);
        at_end |= cut == compressed.size();
    }
    at_end |= cut >= compressed.size();
    Delivered whole = deliver(std::string_view(compressed).substr(0, cut), piece);
    constexpr std::size_t kRecognised = 4;
    if (cut < kRecognised || !whole.opened) return;
    promise(raw.substr(0, whole.text.size()) == whole.text, "what is before a cut is delivered as it was");
    promise(whole.damaged == !at_end, "a cut is said to be one");
    if (cut >= compressed.size()) promise(whole.text.size() == raw.size(), "all is delivered");
}

}  // namespace

void run_compressed(std::string_view bytes) {
    Choices choices(bytes);
    std::uint32_t form = choices.byte();
    std::size_t piece = 1 + std::size_t{97} * choices.byte();
    if (form % 4 == 0) {
        Decompressor sections;
        std::size_t raw_size = std::size_t{3} * choices.two_bytes();
        PodVector<char> into;
        into.resize(raw_size);
        sections.decompress(choices.rest(), into.data(), raw_size);
    } else if (form % 4 == 1) {
        check_cut(choices, (form & 4u) != 0, 1 + (form >> 3u) % 3, piece);
    } else {
        std::string_view rest = choices.rest();
        Delivered whole = deliver(rest, 64 * 1024), pieces = deliver(rest, piece);
        if (whole.text.size() >= kMaxRead || pieces.text.size() >= kMaxRead) return;
        promise(whole.damaged == pieces.damaged, "damage is damage in pieces of any size");
        // Of a damaged zstd file libzstd may keep what it decoded in the call that failed.
        std::size_t both = std::min(whole.text.size(), pieces.text.size());
        promise(whole.text.substr(0, both) == pieces.text.substr(0, both), "the same in pieces of any size");
        promise(whole.damaged || whole.text.size() == pieces.text.size(), "as much in pieces of any size");
    }
}

}  // namespace gpuprof::fuzz
