#include "io/exporters/pprof_profile.h"

#include <zlib.h>

namespace gpuprof::inline exporters::pprof {

Status write_profile(std::string text, Sink& sink) {
    constexpr int kGzipWindow = 15 + 16;
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return Error{ExitCode::internal, "out of memory for compression"};
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    std::string piece(256 * 1024, '\0');
    int code = Z_OK;
    while (code == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        code = deflate(&stream, Z_FINISH);
        sink.write(std::string_view(piece).substr(0, piece.size() - stream.avail_out));
    }
    deflateEnd(&stream);
    return {};
}

}  // namespace gpuprof::exporters::pprof
