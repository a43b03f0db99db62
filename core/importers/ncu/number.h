// Numbers as Nsight Compute prints them in the user's locale: 1,234.5 or 1.234,5 or 1 234,5. What a lone separator before three
// digits means ("454,555") the other numbers of the file must tell.
#pragma once

#include <optional>
#include <string_view>

namespace gpuprof::ncu {

enum class Mark { unknown, point, comma };  // that stands before the decimals

// What a number tells of the mark of its file.
Mark mark_of(std::string_view text);

// The number; nothing when it is none. `mark` decides where the text does not; unknown is a point. What follows a number in
// brackets ("12 (4; 8)", the values of its instances) is not looked at.
std::optional<double> number_of(std::string_view text, Mark mark);

}  // namespace gpuprof::ncu
