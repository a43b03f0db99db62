// GPUPROF_HELP_PAGES is the path of the packed pages (CMakeLists.txt); the assembler copies the file as it is.
#include "cli/help/pages.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

__asm__(
    ".pushsection .rodata\n"
    ".global gpuprof_help_pages, gpuprof_help_pages_end\n"
    "gpuprof_help_pages: .incbin \"" GPUPROF_HELP_PAGES
    "\"\n"
    "gpuprof_help_pages_end: .byte 0\n"
    ".popsection\n");
extern "C" const char gpuprof_help_pages[], gpuprof_help_pages_end[];

namespace gpuprof::inline cli {
namespace {

// The writer does not store the unpacked size, so the frame is read in pieces.
std::string unpacked() {
    std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
    ZSTD_inBuffer in{gpuprof_help_pages, static_cast<std::size_t>(gpuprof_help_pages_end - gpuprof_help_pages), 0};
    std::string text, piece(ZSTD_DStreamOutSize(), '\0');
    std::size_t more = 1;
    while (stream && more != 0 && !ZSTD_isError(more) && in.pos < in.size) {
        ZSTD_outBuffer out{piece.data(), piece.size(), 0};
        more = ZSTD_decompressStream(stream.get(), &out, &in);
        text.append(piece, 0, out.pos);
    }
    return text;
}

// Up to the first `end`, which is taken off `text` as well.
std::string_view take_until(std::string_view& text, char end) {
    std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

}  // namespace

std::vector<HelpPage> split_pages(std::string_view packed) {
    constexpr char kBetween = '\f';
    std::vector<HelpPage> pages;
    take_until(packed, kBetween);
    while (!packed.empty()) {
        std::string_view text = take_until(packed, kBetween);
        std::string_view path = take_until(text, '\n');
        path.remove_suffix(path.ends_with(".md") ? 3 : 0);
        for (constexpr std::string_view kEnd = "-->\n"; text.starts_with("<!--");)  // about the page, for tools
            text.remove_prefix(std::min(text.find(kEnd), text.size() - kEnd.size()) + kEnd.size());
        std::size_t slash = path.rfind('/') + 1;  // 0 without one
        std::string_view title = text.substr(0, text.find('\n'));
        title.remove_prefix(std::min(title.find_first_not_of("# "), title.size()));
        pages.push_back({path.substr(slash), path.substr(0, slash == 0 ? 0 : slash - 1), title, text});
    }
    return pages;
}

std::span<const HelpPage> help_pages() {
    static const std::string text = unpacked();
    static const std::vector<HelpPage> pages = split_pages(text);
    return pages;
}

}  // namespace gpuprof::cli
