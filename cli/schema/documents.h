// The JSON Schema of all documents that the program writes (core/schema/documents.schema.json), part of the program.
#pragma once

#include <string_view>

namespace gpuprof::inline cli {

std::string_view documents_schema();

}  // namespace gpuprof::cli
