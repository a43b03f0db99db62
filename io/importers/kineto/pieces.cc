#include "io/importers/kineto/pieces.h"

namespace gpuprof::inline importers::kineto {

Result<PieceReader::Next> PieceReader::read(PaddedBytes& bytes) {
    std::size_t carried = carry_.size();
    char* begin = bytes.resize(carried + piece_bytes_);
    if (carried > 0) std::memcpy(begin, carry_.data(), carried);
    Result<std::size_t> got = source_.read(begin + carried, piece_bytes_);
    if (!got) return got.error();
    Next next{offset_, *got < piece_bytes_};
    bytes.resize(carried + *got);
    bytes.seal();
    carry_.clear();
    if (!next.last) {
        // A cut far from the end would make the carried bytes grow; the assembly joins pieces cut inside an event.
        const char* end = begin + carried + *got;
        const char* cut = find_cut(end - piece_bytes_ / 2, end);
        carry_.append(cut, static_cast<std::size_t>(end - cut));
        bytes.resize(static_cast<std::size_t>(cut - begin));
        bytes.seal();
    }
    offset_ += bytes.size();
    return next;
}

}  // namespace gpuprof::importers::kineto
