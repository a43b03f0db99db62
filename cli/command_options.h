// How a command declares its command line. CLI11 does the parsing, hidden behind this header: including CLI11 directly
// costs the compiler ten seconds per file, more than most commands take to compile.
//
//     line.option("--limit", arguments->limit, "Maximum number of rows; 0 shows all.").not_negative().value("N");
//     line.option("FILE", arguments->file, "A recording.").required();
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "core/schema/option_kind.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpuprof::inline cli {

// What a shell offers for an argument.
struct CompletionWords {
    std::vector<std::string> words;
    bool kernels = false;  // handles of kernels (k-1) of the recording on the command line as well
};

// A declared argument; each call refines it and returns it.
class DeclaredOption {
public:
    DeclaredOption(CLI::Option* option, CompletionWords& completion) : option_(option), completion_(&completion) {}

    DeclaredOption& required();
    DeclaredOption& value(const char* name);  // name of the value in the help; "" for none
    DeclaredOption& number();                 // for a text option: its value must be a number
    DeclaredOption& range(double low, double high);
    DeclaredOption& fraction();  // between 0 and 1
    DeclaredOption& integer_range(std::int64_t low, std::int64_t high);
    // A time in seconds, or a number with a unit (464ms, 20us, 300ns); converted to seconds.
    DeclaredOption& seconds(double low, double high);
    DeclaredOption& nanoseconds();                                  // the same in ns, whole
    DeclaredOption& one_of(const std::vector<std::string>& words);  // which completion offers
    // Offers the words of a list, although other texts may be accepted as well.
    template <class List>
    DeclaredOption& suggest(const List& words) {
        completion_->words.assign(std::begin(words), std::end(words));
        return *this;
    }
    DeclaredOption& suggest_kernels();
    // `complaint` returns what is wrong with a text, "" if nothing is.
    DeclaredOption& check(const std::function<std::string(const std::string&)>& complaint);
    DeclaredOption& transform(const std::function<void(std::string&)>& text);  // before any check
    DeclaredOption& comma_separated();                                         // several values in one word
    DeclaredOption& one_value_per_use();  // of a list: each use of the option takes one word
    DeclaredOption& optional_value();     // "" if the option is the last word or another option follows
    DeclaredOption& append_each_use();    // the same; repeated uses append to the list
    DeclaredOption& group(const char* heading);

private:
    CLI::Option* option_;
    CompletionWords* completion_;
};

class CommandLine {
public:
    explicit CommandLine(CLI::App& app) : app_(app) {}

    // Declares an option ("--name", "-n,--name") or, without dashes, the next positional. The target is a text, a list
    // of texts, a number, or an optional number (command_options.cc lists the types).
    template <class T>
    DeclaredOption option(const std::string& name, T& into, const std::string& doc);
    // The same from a declaration that several languages share.
    template <class T>
    DeclaredOption option(const OptionSpec& spec, T& into) {
        DeclaredOption declared = option(std::string(spec.flag), into, std::string(spec.doc));
        return declared.value(std::string(spec.value).c_str());
    }
    // The same with a function that receives the word, all words, or the number.
    DeclaredOption text_option(const std::string& name, const std::function<void(const std::string&)>& take,
                               const std::string& doc);
    DeclaredOption list_option(const std::string& name,
                               const std::function<void(const std::vector<std::string>&)>& take,
                               const std::string& doc);
    DeclaredOption number_option(const std::string& name, const std::function<void(double)>& take,
                                 const std::string& doc);
    // Sets `into` to true, or to false with "!--name".
    void flag(const std::string& name, bool& into, const std::string& doc);
    void flag(const std::string& name, const std::function<void()>& given, const std::string& doc);
    void remove(const std::string& name);
    // An option of older versions, which help and completions omit. Using it is an error that says what to do instead.
    void removed(const std::string& name, const std::string& instead);
    // The same of an option of other commands or analyses: `why` follows its name.
    void refused(const std::string& name, const std::string& why);
    void footer(const std::string& text);

    // After parsing: whether an option was given, and the words that match no declaration.
    bool given(const std::string& name) const;
    std::vector<std::string> remaining() const;

    const CompletionWords& completion(const CLI::Option& option) const;

private:
    DeclaredOption declared(CLI::Option* option) { return {option, completions_[option]}; }

    CLI::App& app_;
    std::map<const CLI::Option*, CompletionWords> completions_;
};

}  // namespace gpuprof::cli
