#include "collect/inject/process_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "collect/inject/scratch.h"
#include "collect/inject/settings.h"
#include "core/base/command_line.h"

namespace gpuprof::inject {
namespace {

// The arguments, without the values of secrets.
void add_command(Scratch& to) noexcept {
    static char raw[16 * 1024], command[16 * 1024];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t size = read(file, raw, sizeof raw);
    close(file);
    if (size < 0) return;
    to.add_text("command");
    to.add_text({command, write_command({raw, static_cast<std::size_t>(size)}, command, sizeof command)});
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
    if (!settings().no_command_line) add_command(facts);
    for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE"})
        if (const char* value = std::getenv(name)) facts.add_text(name), facts.add_text(value);
    file.write(ChunkKind::spool_process, facts.view());
}

}  // namespace gpuprof::inject
