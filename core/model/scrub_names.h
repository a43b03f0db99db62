// Made-up names for real ones. A text of a column (core/schema/tables.def) is taken apart into what is public, which stays, and
// names, which are replaced: the same name by the same one everywhere, "file-07.py", numbered in the order of the real ones, so
// that rows which are sorted by name stay in their order. All texts are shown once (learn) before the first is replaced.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/schema/privacy.h"

namespace gpuprof {

// What is replaced besides files, hosts, users and programs.
struct ScrubOptions {
    bool ranges = false;   // ranges, operators of the program's own, functions, modules
    bool kernels = false;  // kernels
};

class ScrubNames {
public:
    explicit ScrubNames(ScrubOptions options) : options_(options) {}

    // A host that keys of processes begin with.
    void learn_host(std::string_view host) { (void)replaced("host", host); }
    void learn(Privacy privacy, std::string_view text) { (void)scrub(privacy, text); }
    // No name is learnt any more.
    void number();
    // What stands for `text`; Privacy::fact and removed are the caller's.
    std::string scrub(Privacy privacy, std::string_view text);

private:
    std::string replaced(std::string_view kind, std::string_view name, std::string_view ending = {});
    std::string identity(std::string_view text);
    std::string file(std::string_view path);
    std::string frames(std::string_view text);
    std::string frame(std::string_view text);
    std::string function(std::string_view name);
    std::string range(std::string_view name);

    ScrubOptions options_;
    bool numbered_ = false;
    std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> numbers_;  // by kind, then name
};

}  // namespace gpuprof
