// Numbers as Nsight Compute prints them in the user's locale: 1,234.5 or 1.234,5 or 1 234,5. The other numbers of the
// file decide what a single separator before three digits means ("454,555").
#pragma once

#include <optional>
#include <string_view>

namespace gpuprof::inline importers::ncu {

enum class DecimalMark { unknown, point, comma };  // the decimal mark

// What a number reveals about the decimal mark of its file.
DecimalMark mark_of(std::string_view text);

// The number; absent if it is not one. `mark` decides if the text does not; unknown means a point. Text after a number
// in brackets ("12 (4; 8)", the values of its instances) is ignored.
std::optional<double> number_of(std::string_view text, DecimalMark mark);

}  // namespace gpuprof::importers::ncu
