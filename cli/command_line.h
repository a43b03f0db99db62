// What a command declares of its command line. CLI11 reads it, behind this header: reading and translating CLI11's takes a compiler ten
// seconds in every file that includes it, more than most commands take themselves.
//
//     line.option("--limit", arguments->limit, "Rows of an answer; 0: all.").not_negative().value("N");
//     line.option("FILE", arguments->file, "A recording.").required();
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/schema/option_kind.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpuprof {

// One argument that was declared; each call says more of it and answers it again.
class DeclaredOption {
public:
    explicit DeclaredOption(CLI::Option* option) : option_(option) {}

    DeclaredOption& required();
    DeclaredOption& value(const char* name);  // what the help calls its value; "" for nothing
    DeclaredOption& number();                 // of a text: it must be one
    DeclaredOption& range(double low, double high);
    DeclaredOption& share();  // between 0 and 1
    DeclaredOption& whole(std::int64_t low, std::int64_t high);
    // A time: seconds, or a number with a unit (464ms, 20us, 300ns), which become seconds.
    DeclaredOption& seconds(double low, double high);
    DeclaredOption& nanoseconds();  // the same in ns, whole
    DeclaredOption& one_of(const std::vector<std::string>& words);
    // Answers what is wrong with a text, "" for nothing.
    DeclaredOption& check(const std::function<std::string(const std::string&)>& complaint);
    DeclaredOption& change(const std::function<void(std::string&)>& text);  // before it is looked at
    DeclaredOption& between_commas();                                       // several values in one word
    DeclaredOption& one_word_a_time();        // of a list: each time it is given it takes one word
    DeclaredOption& every_time_one();         // the same, and given again it adds to the list
    DeclaredOption& show_usual();             // the help shows what the variable holds now
    DeclaredOption& usual(const char* text);  // or this
    DeclaredOption& group(const char* heading);

private:
    CLI::Option* option_;
};

class CommandLine {
public:
    explicit CommandLine(CLI::App& app) : app_(app) {}

    // An option ("--name", "-n,--name") or, without dashes, the next of the words beside them. Into a text, a list of texts, a number, or
    // an optional one (command_line.cc has the types).
    template <class T>
    DeclaredOption option(const std::string& name, T& into, const std::string& doc);
    // One that is declared for several languages.
    template <class T>
    DeclaredOption option(const OptionSpec& spec, T& into) {
        DeclaredOption declared = option(std::string(spec.flag), into, std::string(spec.doc));
        return declared.value(std::string(spec.value).c_str());
    }
    // The same with a function that takes the word, all words, or the number.
    DeclaredOption word(const std::string& name, const std::function<void(const std::string&)>& take,
                        const std::string& doc);
    DeclaredOption words(const std::string& name, const std::function<void(const std::vector<std::string>&)>& take,
                         const std::string& doc);
    DeclaredOption number(const std::string& name, const std::function<void(double)>& take, const std::string& doc);
    // Makes `into` true; with "!--name" false.
    void flag(const std::string& name, bool& into, const std::string& doc);
    void flag(const std::string& name, const std::function<void()>& given, const std::string& doc);
    void remove(const std::string& name);
    void footer(const std::string& text);

    // Once it has been read: whether an option was given, and words that nothing was declared for.
    bool given(const std::string& name) const;
    std::vector<std::string> remaining() const;

private:
    CLI::App& app_;
};

}  // namespace gpuprof
