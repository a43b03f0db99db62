#include "collect/inject/process_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "collect/inject/scratch.h"

namespace gpuprof::inject {
namespace {

// Whether the value of an option or variable called `name` is better not kept.
bool secret(std::string_view name) noexcept {
    char lower[128];
    std::size_t size = name.size() < sizeof lower ? name.size() : sizeof lower;
    for (std::size_t i = 0; i < size; ++i)
        lower[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    std::string_view text(lower, size);
    for (std::string_view word :
         {"password", "passwd", "secret", "token", "api_key", "api-key", "apikey", "credential"})
        if (text.find(word) != std::string_view::npos) return true;
    return false;
}

// The arguments, separated by blanks; "--token=x" and "--token x" lose the x.
void add_command(Scratch& to) noexcept {
    static char raw[16 * 1024], command[16 * 1024];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t size = read(file, raw, sizeof raw - 1);
    close(file);
    std::size_t at = 0;
    bool hide_next = false;
    for (ssize_t begin = 0; begin < size;) {
        std::string_view word(raw + begin, strnlen(raw + begin, static_cast<std::size_t>(size - begin)));
        begin += static_cast<ssize_t>(word.size()) + 1;
        std::size_t equals = word.find('=');
        bool option = secret(word.substr(0, equals)) && !word.empty() && (word[0] == '-' || equals != word.npos);
        std::string_view shown = hide_next ? "***" : option && equals != word.npos ? word.substr(0, equals + 1) : word;
        hide_next = !hide_next && option && equals == word.npos;
        int added =
            std::snprintf(command + at, sizeof command - at, "%s%.*s%s", at > 0 ? " " : "",
                          static_cast<int>(shown.size()), shown.data(), option && equals != word.npos ? "***" : "");
        if (added < 0 || at + static_cast<std::size_t>(added) >= sizeof command) break;
        at += static_cast<std::size_t>(added);
    }
    to.add_text("command"), to.add_text({command, at});
}

void add_number(Scratch& to, std::string_view key, long long value) noexcept {
    char text[32];
    int size = std::snprintf(text, sizeof text, "%lld", value);
    to.add_text(key), to.add_text({text, static_cast<std::size_t>(size)});
}

}  // namespace

void write_process_facts(SpoolFile& file) noexcept {
    Scratch facts;
    add_number(facts, "pid", getpid());
    add_number(facts, "ppid", getppid());
    char text[4096];
    if (gethostname(text, sizeof text) == 0) {
        text[sizeof text - 1] = '\0';
        facts.add_text("host"), facts.add_text(text);
    }
    ssize_t size = readlink("/proc/self/exe", text, sizeof text);
    if (size > 0) facts.add_text("program"), facts.add_text({text, static_cast<std::size_t>(size)});
    add_command(facts);
    for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE"})
        if (const char* value = std::getenv(name)) facts.add_text(name), facts.add_text(value);
    file.write(ChunkKind::spool_process, facts.view());
}

}  // namespace gpuprof::inject
