// GPUPROF_VIEWER_PAGE is the path of the built page (CMakeLists.txt); the assembler embeds the file unchanged.
#include "cli/view/page.h"

#ifdef GPUPROF_VIEWER_PAGE
__asm__(
    ".pushsection .rodata\n"
    ".global gpuprof_viewer_page, gpuprof_viewer_page_end\n"
    "gpuprof_viewer_page: .incbin \"" GPUPROF_VIEWER_PAGE
    "\"\n"
    "gpuprof_viewer_page_end: .byte 0\n"
    ".popsection\n");
extern "C" const char gpuprof_viewer_page[], gpuprof_viewer_page_end[];
#endif

namespace gpuprof::inline cli {

Result<std::string_view> viewer_page() {
#ifdef GPUPROF_VIEWER_PAGE
    return std::string_view(gpuprof_viewer_page,
                            static_cast<std::size_t>(gpuprof_viewer_page_end - gpuprof_viewer_page));
#else
    return Error{
        ExitCode::internal,
        "cannot show the viewer: node and npm were missing when this program was built; install them and rebuild, or "
        "use gpu-profile report"};
#endif
}

}  // namespace gpuprof::cli
