#include "io/importers/ncu/ncu_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace gpuprof::inline importers::ncu {
namespace {

// Without the instances of a sum, and without group separators other than decimal marks: blanks, no-break spaces,
// apostrophes.
std::string bare(std::string_view text) {
    text = text.substr(0, text.find(" ("));
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string_view rest = text.substr(i);
        if (rest.starts_with("\xC2\xA0")) {
            i += 1;
        } else if (rest.starts_with("\xE2\x80\xAF") || rest.starts_with("\xE2\x80\x99")) {
            i += 2;
        } else if (text[i] != ' ' && text[i] != '\'') {
            kept += text[i];
        }
    }
    return kept;
}

struct MarkCounts {
    std::size_t points, commas, last, digits_after, digits_before;
    bool sound;  // digits, marks, a sign and an exponent only
};

MarkCounts marks_in(std::string_view text) {
    std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    std::size_t end = std::min(text.find_first_of("eE"), text.size());
    std::string_view digits = text.substr(sign, end - sign);
    MarkCounts marks{};
    marks.points = static_cast<std::size_t>(std::count(digits.begin(), digits.end(), '.'));
    marks.commas = static_cast<std::size_t>(std::count(digits.begin(), digits.end(), ','));
    marks.last = digits.find_last_of(".,");
    marks.digits_after = marks.last == digits.npos ? 0 : digits.size() - marks.last - 1;
    marks.digits_before = std::min(digits.find_first_of(".,"), digits.size());
    bool zero = marks.digits_before == 1 && digits[0] == '0';
    if (zero || marks.digits_before > 3) marks.digits_before = 0;  // no group can start like this
    marks.sound = !digits.empty() && digits.find_first_not_of("0123456789.,") == digits.npos &&
                  digits.find_first_of("0123456789") != digits.npos;
    return marks;
}

}  // namespace

DecimalMark mark_of(std::string_view text) {
    std::string number = bare(text);
    MarkCounts marks = marks_in(number);
    if (!marks.sound || marks.points + marks.commas == 0) return DecimalMark::unknown;
    if (marks.points > 0 && marks.commas > 0)
        return number.rfind('.') > number.rfind(',') ? DecimalMark::point : DecimalMark::comma;
    if (marks.points + marks.commas > 1) return marks.points > 0 ? DecimalMark::comma : DecimalMark::point;
    if (marks.digits_after == 3 && marks.digits_before > 0) return DecimalMark::unknown;
    return marks.points > 0 ? DecimalMark::point : DecimalMark::comma;
}

std::optional<double> number_of(std::string_view text, DecimalMark mark) {
    std::string number = bare(text);
    if (!marks_in(number).sound) return std::nullopt;
    if (DecimalMark own = mark_of(number); own != DecimalMark::unknown) mark = own;
    char decimal = mark == DecimalMark::comma ? ',' : '.', group = mark == DecimalMark::comma ? '.' : ',';
    std::erase(number, group);
    std::replace(number.begin(), number.end(), decimal, '.');
    const char* begin = number.data() + (number.starts_with('+') ? 1 : 0);
    const char* end = number.data() + number.size();
    double value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace gpuprof::importers::ncu
