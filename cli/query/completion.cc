#include "cli/query/completion.h"

#include <algorithm>
#include <set>

#include "cli/query/dot_commands.h"
#include "cli/query/query_output.h"
#include "core/base/text/ascii.h"
#include "present/query/sql_functions.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kKeywords[] = {
    "AND",    "AS",     "ASC",  "AVG",  "BETWEEN", "BY",     "CASE", "CAST",  "COUNT", "DESC", "DISTINCT",
    "ELSE",   "END",    "FROM", "GLOB", "GROUP",   "HAVING", "IN",   "IS",    "JOIN",  "LEFT", "LIKE",
    "LIMIT",  "MAX",    "MIN",  "NOT",  "NULL",    "OFFSET", "ON",   "OR",    "ORDER", "OVER", "PARTITION",
    "REGEXP", "SELECT", "SUM",  "THEN", "UNION",   "USING",  "WHEN", "WHERE", "WITH"};

bool part_of_word(char c) { return c == '_' || is_alphanumeric(c); }

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), to_lower);
    return out;
}

std::vector<std::string> words_in(std::string_view sql) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < sql.size();) {
        std::size_t end = at;
        while (end < sql.size() && part_of_word(sql[end])) ++end;
        if (end > at) words.push_back(lower(sql.substr(at, end - at)));
        at = std::max(end, at + 1);
    }
    return words;
}

class Words {
public:
    explicit Words(std::string_view typed) : typed_(lower(typed)) {}
    void add(std::string_view word) {
        if (lower(word.substr(0, typed_.size())) == typed_) found_.emplace(word);
    }
    std::vector<std::string> take() { return {found_.begin(), found_.end()}; }

private:
    std::string typed_;
    std::set<std::string> found_;
};

void add_columns(const Relation& relation, Words& words) {
    for (const FrameColumn& column : relation.shape.columns) words.add(column.name);
}

void add_relations(const Catalogue& catalogue, Words& words) {
    for (const Relation& relation : catalogue.relations()) words.add(relation.name);
}

void add_after_dot_command(const Catalogue& catalogue, const std::string& command, Words& words) {
    if (command == "schema") add_relations(catalogue, words);
    if (command == "mode")
        for (const AnswerFormat& format : answer_formats()) words.add(format.name);
    if (command == "timer")
        for (std::string_view word : {"on", "off"}) words.add(word);
}

void add_expression_words(const Catalogue& catalogue, std::string_view statement, Words& words) {
    for (const Relation* relation : mentioned(catalogue, statement)) {
        add_columns(*relation, words);
        words.add(relation->name);
    }
    for (const SqlFunction& function : sql_functions())
        words.add(function.synopsis.substr(0, function.synopsis.find('(')));
    for (std::string_view keyword : kKeywords) words.add(keyword);
}

}  // namespace

std::vector<const Relation*> mentioned(const Catalogue& catalogue, std::string_view sql) {
    std::vector<std::string> words = words_in(sql);
    std::vector<const Relation*> named, all;
    for (const Relation& relation : catalogue.relations()) {
        all.push_back(&relation);
        if (std::find(words.begin(), words.end(), lower(relation.name)) != words.end()) named.push_back(&relation);
    }
    return named.empty() ? all : named;
}

Completion complete_sql(const Catalogue& catalogue, std::string_view text) {
    Completion completion;
    completion.begin = text.size();
    while (completion.begin > 0 && part_of_word(text[completion.begin - 1])) --completion.begin;
    std::string_view before = text.substr(0, completion.begin);
    Words words(text.substr(completion.begin));
    std::size_t first = text.find_first_not_of(" \t\n");
    std::vector<std::string> earlier = words_in(before);
    if (first != std::string_view::npos && text[first] == '.') {
        if (earlier.empty())
            for (const DotCommand& command : dot_commands()) words.add(command.name.substr(1));
        else
            add_after_dot_command(catalogue, earlier.front(), words);
    } else if (before.ends_with('.') && !earlier.empty()) {
        for (const Relation& relation : catalogue.relations())
            if (lower(relation.name) == earlier.back()) add_columns(relation, words);
    } else if (!earlier.empty() && (earlier.back() == "from" || earlier.back() == "join")) {
        add_relations(catalogue, words);
    } else {
        add_expression_words(catalogue, text, words);
    }
    completion.words = words.take();
    return completion;
}

}  // namespace gpuprof::cli
