// Which annotations have a meaning for the recorder: those of the name that the launcher gave, in its domain or any, or
// those that name an iteration if it gave none. A program may register each text once and annotate with its handle, as
// Python's client does with every text, so there is no bound on the number of handles: one whose text is wanted has a bit
// of its own. Handles stay valid in a forked child, which has the same settings.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inject {

class AnnotationName {
public:
    // `wanted` is NAME, NAME@DOMAIN or ""; it must outlive this object. With `iterations`, an empty name means the names
    // of iterations: step, iteration and ProfilerStep, with or without a number.
    AnnotationName(std::string_view wanted, bool iterations) noexcept;
    // The handles that the program gets for a domain's name and for a text, from a number below 2^62.
    std::uint64_t domain_handle(std::uint64_t number, std::string_view name) const noexcept;
    std::uint64_t text_handle(std::uint64_t number, std::string_view text) const noexcept;
    // `registered` is the handle of a text; 0: `text` is the text.
    bool matches(std::string_view text, std::uint64_t domain, std::uint64_t registered) const noexcept;

private:
    bool is_wanted(std::string_view text) const noexcept;

    std::string_view name_, domain_;
    bool iterations_;
};

// By the settings.
const AnnotationName& annotation_name() noexcept;

}  // namespace gpuprof::inject
