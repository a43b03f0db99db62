// A POSIX extended regular expression for names of kernels.
#pragma once

#include <regex.h>

#include <string>
#include <string_view>

namespace gpuprof {

class NamePattern {
public:
    explicit NamePattern(const std::string& text)
        : valid_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
    ~NamePattern() {
        if (valid_) regfree(&compiled_);
    }
    NamePattern(const NamePattern&) = delete;
    NamePattern& operator=(const NamePattern&) = delete;

    bool valid() const { return valid_; }
    // Whether some part of `name` matches; never if the pattern is not valid.
    bool matches(std::string_view name) const {
        return valid_ && regexec(&compiled_, std::string(name).c_str(), 0, nullptr, 0) == 0;
    }

private:
    regex_t compiled_{};
    bool valid_;
};

}  // namespace gpuprof
