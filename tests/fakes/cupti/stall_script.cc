#include "tests/fakes/cupti/stall_script.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/format/pc_sampling.h"
#include "tests/fakes/cupti/client.h"

namespace fake_cupti {
namespace {

using gpuprof::pcs::LoadedModule;
using gpuprof::pcs::Resource;

const char* kPrefix = "smsp__pcsamp_warps_issue_stalled_";

std::string bytes_of(const std::string& file) {
    std::ifstream input(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
}

bool take(const std::string& line, StallScript& script) {
    std::istringstream words(line);
    std::string verb, text;
    if (!(words >> verb)) return true;
    std::uint32_t index = 0;
    if (verb == "reason") {
        words >> index >> text;
        script.reasons[index] = text;
    } else if (verb == "module") {
        words >> text;
        script.modules.push_back(bytes_of(text));
    } else if (verb == "sample") {
        StallScript::Sample sample;
        words >> sample.kernel >> sample.function >> sample.module >> sample.offset;
        while (words >> text) {
            std::size_t equals = text.find('=');
            sample.counts[static_cast<std::uint32_t>(std::stoul(text))] =
                static_cast<std::uint32_t>(std::stoul(text.substr(equals + 1)));
        }
        script.samples.push_back(sample);
        return true;
    } else if (verb == "count") {
        StallScript::Count count;
        words >> count.kernel >> count.function >> count.module >> count.offset;
        while (words >> text) {
            std::size_t equals = text.find('=');
            count.values[text.substr(0, equals)] = std::stoul(text.substr(equals + 1));
        }
        script.counts.push_back(count);
        return true;
    } else if (verb == "split") {
        script.split = true;
    } else if (verb == "dropped") {
        words >> script.dropped;
    } else if (verb == "others") {
        words >> script.others;
    } else if (verb == "page") {
        words >> script.page;
    } else if (verb == "late") {
        words >> script.late;
    } else if (verb == "contexts") {
        words >> script.contexts;
    } else if (verb == "full") {
        script.full = true;
    } else if (verb == "destroy") {
        script.destroy = true;
    } else {
        return false;
    }
    return !words.fail();
}

}  // namespace

const StallScript& stall_script() {
    static const StallScript& script = *[] {
        auto* made = new StallScript;
        const char* named = std::getenv("GPUPROF_FAKE_STALLS");
        std::ifstream file(named ? named : "");
        for (std::string line; std::getline(file, line);)
            if (!take(line, *made)) {
                std::fprintf(stderr,
                             "fake libcupti: '%s' in GPUPROF_FAKE_STALLS; see tests/fakes/cupti/stall_script.h\n",
                             line.c_str());
                std::abort();
            }
        std::uint32_t index = 3;
        if (made->reasons.empty())
            for (const char* name :
                 {"long_scoreboard", "long_scoreboard_not_issued", "wait", "no_instructions", "selected"})
                made->reasons[index++] = name;
        for (auto& [number, name] : made->reasons) name = kPrefix + name;
        return made;
    }();
    return script;
}

std::uint64_t crc_of(const std::string& cubin) {
    std::uint64_t hash = 0x811c9dc5u;
    for (char byte : cubin) hash = ((hash ^ static_cast<unsigned char>(byte)) * 0x01000193u) & 0xffffffffu;
    return hash;
}

namespace {

void* context_of(std::size_t number) { return reinterpret_cast<unsigned char*>(&client()) + number; }

void tell(std::uint32_t cbid, std::size_t context, const void* descriptor) {
    Resource about{context_of(context), nullptr, descriptor};
    call_back(kResourceDomain, cbid, &about);
}

}  // namespace

void tell_of_contexts() {
    const StallScript& script = stall_script();
    for (std::size_t context = 0; context < script.contexts; ++context) {
        tell(Resource::kContextCreated, context, nullptr);
        for (std::size_t i = 0; i < script.modules.size(); ++i) {
            std::string copy = script.modules[i];  // valid during the callback only
            LoadedModule module{static_cast<std::uint32_t>(i + 1), copy.size(), copy.data()};
            tell(Resource::kModuleLoaded, context, &module);
        }
    }
}

void end_contexts() {
    const StallScript& script = stall_script();
    for (std::size_t context = 0; script.destroy && context < script.contexts; ++context)
        tell(Resource::kContextDestroyed, context, nullptr);
}

}  // namespace fake_cupti
