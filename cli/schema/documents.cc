// GPUPROF_DOCUMENTS_SCHEMA is the path of the schema (CMakeLists.txt); the assembler copies the file as it is.
#include "cli/schema/documents.h"

__asm__(
    ".pushsection .rodata\n"
    ".global gpuprof_documents_schema, gpuprof_documents_schema_end\n"
    "gpuprof_documents_schema: .incbin \"" GPUPROF_DOCUMENTS_SCHEMA
    "\"\n"
    "gpuprof_documents_schema_end: .byte 0\n"
    ".popsection\n");
extern "C" const char gpuprof_documents_schema[], gpuprof_documents_schema_end[];

namespace gpuprof::inline cli {

std::string_view documents_schema() { return {gpuprof_documents_schema, gpuprof_documents_schema_end}; }

}  // namespace gpuprof::cli
