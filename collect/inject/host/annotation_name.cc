#include "collect/inject/host/annotation_name.h"

#include "collect/inject/settings.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint64_t kWanted = std::uint64_t{1} << 62;

// A trailing number, as in "ProfilerStep#7", is ignored.
bool is_iteration(std::string_view text) noexcept {
    while (!text.empty() && (is_digit(text.back()) || text.back() == ' ' || text.back() == '#')) text.remove_suffix(1);
    return text == "step" || text == "Step" || text == "iteration" || text == "Iteration" || text == "ProfilerStep";
}

}  // namespace

AnnotationName::AnnotationName(std::string_view wanted, bool iterations) noexcept : iterations_(iterations) {
    std::size_t at = wanted.rfind('@');
    name_ = wanted.substr(0, at);
    if (at != std::string_view::npos) domain_ = wanted.substr(at + 1);
}

bool AnnotationName::is_wanted(std::string_view text) const noexcept {
    return name_.empty() ? iterations_ && is_iteration(text) : text == name_;
}

std::uint64_t AnnotationName::domain_handle(std::uint64_t number, std::string_view name) const noexcept {
    return !domain_.empty() && name == domain_ ? number | kWanted : number;
}

std::uint64_t AnnotationName::text_handle(std::uint64_t number, std::string_view text) const noexcept {
    return is_wanted(text) ? number | kWanted : number;
}

bool AnnotationName::matches(std::string_view text, std::uint64_t domain, std::uint64_t registered) const noexcept {
    bool named = registered != 0 ? (registered & kWanted) != 0 : is_wanted(text);
    return named && (domain_.empty() || (domain & kWanted) != 0);
}

const AnnotationName& annotation_name() noexcept {
    static const AnnotationName name(settings().annotation,
                                     settings().range == CaptureRange::iterations || settings().keep_slow > 0);
    return name;
}

}  // namespace gpuprof::inject
