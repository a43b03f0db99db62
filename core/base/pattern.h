// A POSIX extended regular expression, compiled once; (?i) at its start ignores case.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace gpuprof::inline base {

class Pattern {
public:
    // Why a text is no pattern: "the pattern exceeds 1,000 bytes", or "invalid pattern 'TEXT': REASON".
    static Result<Pattern> compile(const std::string& text);
    // Whether some part of the text matches.
    bool matches(const char* text) const { return regexec(compiled_.get(), text, 0, nullptr, 0) == 0; }
    bool matches(std::string_view text) const { return matches(std::string(text).c_str()); }

private:
    struct Free {
        void operator()(regex_t* compiled) const {
            regfree(compiled);
            delete compiled;
        }
    };
    std::unique_ptr<regex_t, Free> compiled_;
};

}  // namespace gpuprof::base
