// Takes annotations of the program to the spool thread, each copied into the ring of its thread. Nothing here waits,
// allocates from the heap, or throws. Handles given to the program are our own numbers, never addresses. An annotation
// may open or close the window (window.h); the one that opens it is the first to be recorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace gpuprof::inject {

// Which annotations have a meaning for the recorder: those of the name that the launcher gave, in its domain or any, or
// those that name an iteration if it gave none. A program may register each text once and annotate with its handle, as
// Python's client does with every text, so there is no bound on the number of handles: one whose text is wanted has a bit
// of its own. Handles stay valid in a forked child, which has the same settings.
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
    // What is in `unseen` while nothing is recorded.
    struct FirstLetters {
        bool match[256];
    };
    const FirstLetters& first_letters() const noexcept { return letters_; }
    static constexpr std::uint64_t kWanted = std::uint64_t{1} << 62;  // in handles

private:
    bool is_wanted(std::string_view text) const noexcept;
    FirstLetters letters_ = {};

    std::string_view name_, domain_;
    bool iterations_;
};

// By the settings.
const AnnotationName& annotation_name() noexcept;

// In standby, while no window is open, an annotation that cannot be a step only changes the depth of its thread. That is seen by its
// first letter, before its text is measured or copied. Null: every annotation is looked at.
inline constinit std::atomic<const AnnotationName::FirstLetters*> unseen{nullptr};

inline bool is_unseen(unsigned char first) noexcept {
    const AnnotationName::FirstLetters* letters = unseen.load(std::memory_order_relaxed);
    return letters != nullptr && !letters->match[first];
}
inline bool is_unseen(std::uint64_t registered) noexcept {
    return unseen.load(std::memory_order_relaxed) != nullptr && (registered & AnnotationName::kWanted) == 0;
}

struct Annotation {
    std::string_view text;
    std::uint64_t registered = 0;  // handle of a registered text that replaces it
    std::uint32_t category = 0;
    std::uint16_t payload_type = 0;  // nvtxPayloadType_t; 0: no payload
    std::uint64_t payload = 0;       // its bits
};

// Returns the depth on this thread, from 0; pop: -2 if there is nothing to pop.
int push_range(std::uint64_t domain, const Annotation& what) noexcept;
int pop_range(std::uint64_t domain) noexcept;
std::uint64_t start_range(std::uint64_t domain, const Annotation& what) noexcept;
void end_range(std::uint64_t domain, std::uint64_t range) noexcept;
void mark(std::uint64_t domain, const Annotation& what) noexcept;
// gpu_profile.step(): an iteration begins.
void step() noexcept;

std::uint64_t make_domain(std::string_view name) noexcept;
std::uint64_t register_string(std::uint64_t domain, std::string_view text) noexcept;
void name_thread(std::uint32_t thread, std::string_view name) noexcept;
void name_category(std::uint64_t domain, std::uint32_t category, std::string_view name) noexcept;
void name_stream(std::uint32_t stream, std::string_view name) noexcept;

}  // namespace gpuprof::inject
