// Made-up names for real ones. A text of a column (core/schema/tables.def) is split into its public parts, which stay,
// and names, which are replaced: each name by the same one everywhere, such as "file-07.py", numbered in sort order, so
// that rows sorted by name keep their order. All texts are shown twice (learn_names, learn) before the first is replaced.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/schema/privacy.h"

namespace gpuprof::inline model {

// What to replace besides files, hosts, users and programs.
struct ScrubOptions {
    bool ranges = false;   // ranges, the program's own operators, functions, modules
    bool kernels = false;  // kernels
};

class ScrubNames {
public:
    explicit ScrubNames(ScrubOptions options) : options_(options) {}

    // Before anything else: the hosts and users that texts of the recording name. They are replaced wherever they stand
    // as a word, except those that many machines share.
    void learn_names(Privacy privacy, std::string_view text);
    void learn(Privacy privacy, std::string_view text) { (void)scrub(privacy, text); }
    // Ends learning: no further names are accepted.
    void number();
    // The replacement for `text`; empty if nothing is left. Privacy::fact and removed are up to the caller.
    std::string scrub(Privacy privacy, std::string_view text);

private:
    struct Known {
        std::string_view kind;
        std::string name;  // of a host, with its domain
    };

    void learn_word(std::string_view word, std::string_view kind, std::string_view name);
    std::string replaced(std::string_view kind, std::string_view name, std::string_view ending = {});
    std::string kept(std::string_view text);
    std::string without_known(std::string_view text);
    std::string identity(std::string_view text);
    std::string file(std::string_view path);
    std::string frames(std::string_view text);
    std::string frame(std::string_view text);
    std::string scope(std::string_view text);
    std::string function(std::string_view name);
    std::string range(std::string_view name, std::string_view kind = "range");

    ScrubOptions options_;
    bool numbered_ = false;
    std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> numbers_;  // by kind, then name
    std::size_t longest_known_ = 0;
    std::map<std::string, Known, std::less<>> known_;  // by word
};

}  // namespace gpuprof::model
