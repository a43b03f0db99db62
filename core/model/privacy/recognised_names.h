// Names of files, addresses and users that show by their form, in texts that programs and tools choose: an absolute
// path, a word that ends in the extension of a file, "https://host/x", "10.0.0.1:29500", "alice@acme.org". There, a
// slash alone means nothing: "jit(f)/mul", "encoder/layer.0" and the "/model/layer.0/MatMul" of ONNX are no files, so
// a path is absolute only below a folder of systems ("/home", "/data") or after "~", "./" or a drive.
//
// Paths end late rather than early: one with spaces reaches to its last slash. The time is linear in the length of the
// text.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/text/ascii.h"

namespace gpuprof::inline model {

// Letters of any language, digits and "_".
constexpr bool in_name(char c) { return is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

struct RecognisedName {
    std::size_t begin = 0, end = 0;
    std::string_view kind = {};  // "file", "address" or "user"
};

// The first name at or after `from`; if there is none, it begins and ends at text.size().
RecognisedName find_name(std::string_view text, std::size_t from = 0);

// ".py" of "/src/x.py" and of "x.py"; empty if the text does not end like a file that is usual in recordings.
std::string_view file_extension(std::string_view path);

}  // namespace gpuprof::model
