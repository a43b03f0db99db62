#include "io/importers/source/lines.h"

#include <algorithm>

namespace gpuprof::inline importers {

bool Lines::fill() {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    if (!status_) return false;
    piece_.resize(kPiece);
    at_ = 0;
    Result<std::size_t> got = source_.read(piece_.data(), kPiece);
    if (!got.ok()) status_ = got.error();
    piece_.resize(got.ok() ? *got : 0);
    return !piece_.empty();
}

std::optional<std::string_view> Lines::next() {
    line_.clear();
    bool any = false, too_long = false;
    ended_ = false;
    while (at_ < piece_.size() || fill()) {
        any = true;
        std::size_t end = std::min(piece_.find('\n', at_), piece_.size());
        std::size_t room = kMaxLineBytes - line_.size();
        too_long = too_long || end - at_ > room;
        line_.append(piece_, at_, std::min(end - at_, room));
        at_ = end;
        if (end == piece_.size()) continue;
        ++at_;
        ended_ = true;
        break;
    }
    if (!any) return std::nullopt;
    ++number_;
    cut_ += too_long ? 1 : 0;
    if (line_.ends_with('\r')) line_.pop_back();
    return line_;
}

}  // namespace gpuprof::importers
