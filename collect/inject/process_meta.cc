#include "collect/inject/process_meta.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "collect/inject/settings.h"
#include "collect/inject/spool/scratch.h"
#include "core/base/boot_id.h"
#include "core/base/text/command_line.h"
#include "core/schema/job_place.h"

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
    to.add_entry("command", {command, write_command({raw, static_cast<std::size_t>(size)}, command, sizeof command)});
}

void add_number(Scratch& to, std::string_view key, long long value) noexcept {
    char text[32];
    int size = std::snprintf(text, sizeof text, "%lld", value);
    to.add_entry(key, {text, static_cast<std::size_t>(size)});
}

void add_place(Scratch& to) noexcept {
    JobPlace place = find_job_place([](const char* name) { return std::getenv(name); });
    if (place.rank) add_number(to, "rank", *place.rank);
    if (place.world_size) add_number(to, "world_size", *place.world_size);
    if (place.local_rank) add_number(to, "local_rank", *place.local_rank);
    if (place.node_rank) add_number(to, "node_rank", *place.node_rank);
    if (place.restart) add_number(to, "restart", *place.restart);
    if (!place.launcher.empty()) to.add_entry("launcher", place.launcher);
    if (!place.job.empty()) to.add_entry("job", place.job);
}

void add_boot_id(Scratch& to) noexcept {
    char text[kBootIdSize];
    if (std::size_t size = read_boot_id(text); size > 0) to.add_entry("boot_id", {text, size});
}

}  // namespace

void write_process_meta(SpoolFile& file, const PartNumber* part) noexcept {
    Scratch facts;
    add_number(facts, "pid", getpid());
    add_number(facts, "ppid", getppid());
    char text[4096];
    if (gethostname(text, sizeof text) == 0) {
        text[sizeof text - 1] = '\0';
        facts.add_entry("host", text);
    }
    ssize_t size = readlink("/proc/self/exe", text, sizeof text);
    if (size > 0) facts.add_entry("program", {text, static_cast<std::size_t>(size)});
    if (!settings().no_command_line) add_command(facts);
    add_place(facts);
    add_boot_id(facts);
    if (part != nullptr) {
        add_number(facts, "part", static_cast<long long>(part->number));
        add_number(facts, "first_part", part->first);
    }
    file.write(ChunkKind::spool_process, facts.view());
}

}  // namespace gpuprof::inject
