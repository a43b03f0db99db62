// A recording as the viewer reads it: a manifest (JSON) that says which tracks, lanes and tables there are, and numbered blobs that
// hold them in pieces, made when they are asked for. The format is docs/reference/formats/viewer.md; the reader is web/src/read.
// Blobs come in the order in which a page needs them: what the first picture is made of, then everything at full detail, then the
// fields of events.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/sink.h"
#include "core/format/column_encoder.h"
#include "core/model/trace.h"

namespace gpuprof {

class ViewDocument {
public:
    // The trace may be any; a copy that counts from zero is kept. An error when it is longer than 2^53 ns (104 days), which
    // browsers cannot count, or holds nothing that happened in time.
    static Result<ViewDocument> make(Trace trace, std::string_view version);
    ~ViewDocument();
    ViewDocument(ViewDocument&&) noexcept;

    const std::string& manifest() const;
    std::size_t blobs() const;
    // How many of the first blobs make the first picture.
    std::size_t early_blobs() const;
    // id < blobs(). Any threads may ask, at the same time. Aim::narrowest for who hands it on as it is.
    std::string blob(std::size_t id, Aim aim) const;

private:
    struct Parts;
    explicit ViewDocument(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

// A blob as it travels: its length in 4 bytes, little endian, then its bytes.
void append_framed(std::string& out, std::string_view blob);

// What a page holds: a recording, and beside it the one that it is compared with.
struct ViewPair {
    struct Base {
        ViewDocument document;
        std::string comparison;  // the JSON of `compare`, every table
    };
    ViewDocument document;
    std::optional<Base> base = {};
};

// `page` (the built viewer) with all of it inside: one file that needs nothing else.
Status write_single_file(const ViewPair& pair, std::string_view page, Sink& sink);

}  // namespace gpuprof
