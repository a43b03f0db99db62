// A POSIX extended regular expression, compiled once; (?i) at its start ignores case. \d, \w, \s, \b and their opposites may be used.
// Matching takes time linear in the text, whatever the pattern; there are no backreferences.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace re2 {
class RE2;
}

namespace gpuprof::inline base {

// Whether the whole text is `glob`, in which each * stands for any characters, also none. There is no escape: names such as
// `step[DECODE bs=8]` have every other special character of shells.
bool matches_glob(std::string_view glob, std::string_view text);

class Pattern {
public:
    // Why a text is no pattern: "the pattern exceeds 1,000 bytes", or "invalid pattern 'TEXT': REASON".
    static Result<Pattern> compile(const std::string& text);
    // Whether some part of the text matches.
    bool matches(std::string_view text) const;

private:
    struct Free {
        void operator()(re2::RE2* compiled) const;
    };
    std::unique_ptr<re2::RE2, Free> compiled_;
};

}  // namespace gpuprof::base
