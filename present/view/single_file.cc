// One file with the viewer and one or two documents. Blobs are framed, concatenated, cut into segments of about 256 KiB,
// compressed with gzip (RFC 1952), which browsers can decompress, and written as base64 (RFC 4648).
#include <zlib.h>

#include <algorithm>

#include "present/view/document.h"

namespace gpuprof::inline view {
namespace {

constexpr std::string_view kDataMarker = "<!--gpu-profile:data-->";  // occurs once in the page
// Approximate bytes before compression. The page decompresses whole segments, and rarely needs all of one.
constexpr std::size_t kSegment = std::size_t{256} << 10;

std::string base64(std::string_view bytes) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k)
            three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63u];
    }
    return text;
}

Result<std::string> gzip(std::string_view bytes) {
    constexpr int kGzipWindow = 15 + 16;
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return Error{ExitCode::internal, "cannot compress: out of memory"};
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    int ended = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (ended != Z_STREAM_END) return Error{ExitCode::internal, "cannot compress: zlib failed"};
    return out;
}

// JSON inside an HTML element, with every "<" escaped so that it cannot end the element.
void write_json(std::string_view json, Sink& sink) {
    for (std::size_t at = 0; at < json.size();) {
        std::size_t next = std::min(json.find('<', at), json.size());
        sink.write(json.substr(at, next - at));
        if (next < json.size()) sink.write("\\u003c");
        at = next + 1;
    }
}

void write_json_element(std::string_view id, std::string_view json, Sink& sink) {
    sink.write("<script type=\"application/json\" id=\"" + std::string(id) + "\">");
    write_json(json, sink);
    sink.write("</script>\n");
}

Status write_segment(std::string_view kind, std::size_t first, std::size_t count, std::string_view framed, Sink& sink) {
    Result<std::string> compressed = gzip(framed);
    if (!compressed.ok()) return compressed.error();
    sink.write("<script type=\"application/octet-stream\" class=\"" + std::string(kind) + "\" data-first=\"" +
               std::to_string(first) + "\" data-count=\"" + std::to_string(count) + "\">");
    sink.write(base64(*compressed));
    sink.write("</script>\n");
    return {};
}

// `prefix` distinguishes the elements of several documents.
Status write_document(const std::string& prefix, const ViewDocument& document, Sink& sink) {
    write_json_element(prefix + "manifest", document.manifest(), sink);
    std::string framed;
    std::size_t first = 0;
    for (std::size_t id = 0; id < document.blobs() && !sink.failed(); ++id) {
        append_framed(framed, document.blob(id, EncodingGoal::smallest));
        bool ends = id + 1 == document.blobs() || id + 1 == document.early_blobs() || framed.size() >= kSegment;
        if (!ends) continue;
        if (Status written = write_segment(prefix + "segment", first, id + 1 - first, framed, sink); !written)
            return written;
        framed.clear();
        first = id + 1;
    }
    return {};
}

// Blobs are in order of what they hold, so that evenly spaced runs of them stand for all; the first ones, of which some are
// large and single, are counted. Runs of several, because segments compress better than blobs.
std::uint64_t estimated_bytes(const ViewDocument& document) {
    constexpr std::size_t kRuns = 24, kRun = 8, kSingle = 8;
    const std::size_t first = std::min(document.blobs(), document.early_blobs() + kSingle),
                      rest = document.blobs() - first;
    auto compressed = [&](std::size_t from, std::size_t to) {
        std::string framed;
        for (std::size_t id = from; id < to; ++id) append_framed(framed, document.blob(id, EncodingGoal::smallest));
        Result<std::string> bytes = gzip(framed);
        return bytes.ok() ? static_cast<double>(bytes->size()) : 0.0;
    };
    double sum = compressed(0, first), sampled = 0;
    std::size_t runs = std::min(kRuns, (rest + kRun - 1) / kRun), blobs = 0;
    for (std::size_t run = 0; run < runs; ++run) {
        std::size_t from = first + rest * run / runs, to = std::min(from + kRun, first + rest * (run + 1) / runs);
        sampled += compressed(from, to);
        blobs += to - from;
    }
    if (blobs > 0) sum += sampled * static_cast<double>(rest) / static_cast<double>(blobs);
    return static_cast<std::uint64_t>(sum * 4 / 3) + document.manifest().size();
}

}  // namespace

std::uint64_t estimated_bytes(const ViewPair& pair) {
    std::uint64_t bytes = estimated_bytes(pair.document);
    if (pair.base) bytes += estimated_bytes(pair.base->document) + pair.base->comparison.size();
    return bytes;
}

Status write_single_file(const ViewPair& pair, std::string_view page, Sink& sink) {
    std::size_t place = page.find(kDataMarker);
    if (place == std::string_view::npos)
        return Error{ExitCode::internal, "cannot write the page: the built viewer lacks its data marker"};
    sink.write(page.substr(0, place));
    if (Status written = write_document("", pair.document, sink); !written) return written;
    if (pair.base) {
        write_json_element("comparison", pair.base->comparison, sink);
        if (Status written = write_document("base-", pair.base->document, sink); !written) return written;
    }
    sink.write(page.substr(place + kDataMarker.size()));
    return {};
}

}  // namespace gpuprof::view
