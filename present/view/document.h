// A recording in the viewer's format: a manifest (JSON) that lists tracks, lanes and tables, and numbered blobs with
// parts of them, created on request. The format is in docs/reference/formats/viewer.md; the reader is web/read.
// Blobs are in the order in which a page needs them: the data of the first picture, then everything at full detail,
// then the fields of events, then details of the answer.
// The timeline can be read while the answer is computed; then the manifest is replaced by one that has more. What the first one lists
// stays as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/format/column_encoder.h"
#include "core/model/trace.h"
#include "core/schema/options.h"
#include "present/view/job_pages.h"

namespace gpuprof::inline view {

// What takes time while a recording is prepared for the page.
enum class ViewStage { reading, arranging, analysing };
std::string_view name_of(ViewStage stage);

class ViewDocument;
// What is there: sentences of the answer; the document, whose answer is added later.
struct ViewProgress {
    ViewStage stage;
    std::vector<std::string> known = {};
    const ViewDocument* timeline = nullptr;
};
using StageReport = std::function<void(const ViewProgress&)>;

// Thread-safe.
class ViewDocument {
public:
    // Keeps a copy of the trace that counts from zero. An error if the trace is longer than 2^53 ns (104 days), which
    // browsers cannot represent exactly, or has neither timestamps nor counters of kernels or instructions nor ranks.
    // `options`: of the analyses in it; `detail`: of a job of many ranks; `on_stage`: called as each stage begins, in the last one with
    // the timeline; `timeline`: the events to show with the answer about a job, whose summaries have none.
    static Result<ViewDocument> make(Trace trace, std::string_view version, const Options& options = {},
                                     StepDetail detail = StepDetail::slowest, const StageReport& on_stage = {},
                                     std::optional<Trace> timeline = {});
    ~ViewDocument();
    // Copies share everything.
    ViewDocument(const ViewDocument&);
    ViewDocument(ViewDocument&&) noexcept;
    ViewDocument& operator=(ViewDocument&&) noexcept;

    // Whether anything in it has a time; counters of kernels have none.
    bool timed() const;
    // What the answer is about, from time zero.
    const Trace& trace() const;
    std::string manifest() const;
    std::size_t blobs() const;
    // The number of leading blobs that the first frame needs.
    std::size_t early_blobs() const;
    // id < blobs(). Use Aim::narrowest if the blob is sent uncompressed.
    std::string blob(std::size_t id, EncodingGoal goal) const;

private:
    struct Parts;
    explicit ViewDocument(std::shared_ptr<Parts> parts);
    std::shared_ptr<Parts> parts_;
};

// A framed blob: its length in 4 bytes, little endian, then its bytes.
void append_framed(std::string& out, std::string_view blob);

// The content of a page: a recording and, optionally, its baseline.
struct ViewPair {
    struct Base {
        ViewDocument document;
        std::string comparison;  // the JSON of `compare`, every table
    };
    ViewDocument document;
    std::optional<Base> base = {};
};

// About how many bytes write_single_file will write for `pair`, from a sample of its blobs.
std::uint64_t estimated_bytes(const ViewPair& pair);

// `page` (the built viewer) with all content embedded: one self-contained file.
Status write_single_file(const ViewPair& pair, std::string_view page, Sink& sink);

}  // namespace gpuprof::view
