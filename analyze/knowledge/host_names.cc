#include "analyze/knowledge/host_names.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/text/ascii.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline knowledge {

CallKind kind_of_call(std::string_view name) {
    std::string_view what = bare_call_name(name);
    if (contains(what, "Synchronize")) return CallKind::sync;
    if (is_sycl_call(name) && contains_any(name, {"QueueFinish", "EventWait", "EventsWait"}) &&
        !contains(name, "Enqueue"))
        return CallKind::sync;
    switch (submission_of(name)) {
        case Submission::kernel:
        case Submission::graph: return CallKind::launch;
        case Submission::copy: return CallKind::copy;
        case Submission::fill: return CallKind::set;
        case Submission::none: break;
    }
    if (what.starts_with("MemPrefetch")) return CallKind::copy;
    if (contains_any(what, {"Malloc", "HostAlloc", "HostRegister", "HostUnregister", "FreeHost", "FreeAsync",
                            "MemAlloc", "MemFree", "MemCreate", "MemMap", "MemUnmap", "MemRelease", "MemSetAccess",
                            "MemAddressReserve", "MemAddressFree"}) ||
        what.starts_with("Free") ||
        (is_sycl_call(name) && contains_any(name, {"DeviceAlloc", "SharedAlloc", "USMFree"})))
        return CallKind::allocation;
    if (contains_any(what, {"ModuleLoad", "ModuleUnload", "LibraryLoad", "LibraryUnload", "LinkComplete", "LinkAdd",
                            "GraphInstantiate", "ModuleGetLoadingMode"}) ||
        (is_sycl_call(name) && contains_any(name, {"ModuleCreate", "ProgramBuild", "ProgramCompile", "ProgramLink"})))
        return CallKind::compilation;
    return CallKind::other;
}

bool call_blocks(std::string_view name) {
    std::string_view what = bare_call_name(name);
    CallKind kind = kind_of_call(name);
    if (kind == CallKind::sync) return true;
    if (is_sycl_call(name)) return contains(name, "Free");  // commands of queues
    if (kind == CallKind::copy || kind == CallKind::set) return kind == CallKind::copy && !contains(what, "Async");
    if (kind != CallKind::allocation || contains(what, "Async")) return false;
    return what.starts_with("Free") || contains_any(what, {"MemFree", "FreeHost", "HostUnregister", "MemUnmap"});
}

bool call_frees(std::string_view name) { return contains_any(bare_call_name(name), {"Free", "Unregister"}); }

namespace {

constexpr std::size_t kMaxSearchedBytes =
    256;  // searched prefix of a name; a frame's file and function are at its start

// "enumerate(DataLoader)#_next" has the words enumerate, data, loader, next.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < std::min(name.size(), kMaxSearchedBytes); ++i) {
        bool begins = is_upper(name[i]) && i > 0 && is_lower(name[i - 1]);
        if ((!is_letter(name[i]) || begins) && !words.back().empty()) words.emplace_back();
        if (is_letter(name[i])) words.back() += to_lower(name[i]);
    }
    return words;
}

bool among(const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_loader(const std::string& word) { return among(word, {"dataloader", "dataloaders", "dali"}); }

// "dataloader_free_path", "skip dataloader".
bool denied(const std::vector<std::string>& words, std::size_t at) {
    return (at + 1 < words.size() && among(words[at + 1], {"free", "less", "independent"})) ||
           (at > 0 && among(words[at - 1], {"no", "non", "without", "skip"}));
}

bool names_loader_together(const std::string& first, const std::string& second) {
    if (first == "data")
        return among(second, {"loader", "loaders", "loading", "load", "wait", "fetch", "prefetch", "pipeline"});
    if (first == "tf") return second == "data";
    if (first == "input") return among(second, {"pipeline", "wait", "fetch", "loading"});
    if (first == "batch") return among(second, {"fetch", "prefetch", "loading", "load"});
    if (among(first, {"load", "fetch", "prefetch", "read"}))
        return among(second, {"data", "batch", "batches", "input", "inputs", "sample", "samples"});
    return among(first, {"next", "get"}) && among(second, {"batch", "batches"});
}

}  // namespace

bool names_loader(std::string_view name) {
    std::vector<std::string> words = words_of(name);
    if (words.size() == 1 || name.starts_with("data:") || name.starts_with("data/"))
        if (among(words[0], {"data", "input", "dataset", "batch", "prefetch"})) return true;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (is_loader(words[i]) && !denied(words, i)) return true;
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (names_loader_together(words[i], words[i + 1])) return true;
    return false;
}

bool sleeps_in_os(std::string_view function) {
    for (std::string_view each : {"nanosleep", "clock_nanosleep", "usleep", "sleep"})
        if (function == each) return true;
    return false;
}

bool waits_for_thread_in_os(std::string_view function) {
    for (std::string_view each : {"sem_wait", "sem_timedwait", "sem_clockwait", "pthread_cond_wait",
                                  "pthread_cond_timedwait", "pthread_cond_clockwait", "futex"})
        if (function == each) return true;
    return false;
}

bool waits_in_os(std::string_view function) {
    for (std::string_view each :
         {"poll",         "ppoll",      "select",          "pselect",      "epoll_wait", "epoll_pwait",
          "epoll_pwait2", "accept",     "accept4",         "recv",         "recvfrom",   "recvmsg",
          "recvmmsg",     "sigwait",    "sigwaitinfo",     "sigtimedwait", "sigsuspend", "pause",
          "msgrcv",       "mq_receive", "mq_timedreceive", "io_getevents"})
        if (function == each) return true;
    return sleeps_in_os(function) || waits_for_thread_in_os(function);
}

bool waits_in_python(std::string_view function, std::string_view file) {
    struct Known {
        std::string_view file, functions;  // separated by spaces
    };
    static constexpr Known kKnown[] = {
        {"threading.py", " wait wait_for acquire _wait_for_tstate_lock "},
        {"queue.py", " get "},
        {"queues.py", " get wait "},  // multiprocessing, asyncio
        {"selectors.py", " select "},
        {"connection.py", " poll _poll wait recv _recv recv_bytes _recv_bytes accept "},  // multiprocessing
        {"socket.py", " accept recv recv_into readinto "},
        {"socketserver.py", " serve_forever get_request "},
        {"base_events.py", " run_forever _run_once "},  // asyncio
        {"runners.py", " run "},                        // asyncio over uvloop
        {"uvloop/__init__.py", " run "},
        {"zmq/sugar/poll.py", " poll "},
        {"zmq/sugar/socket.py", " recv poll recv_multipart "},
        {"grpc/_common.py", " wait _wait_once "},
    };
    if (function.empty()) return false;
    if (file.empty())  // <built-in method poll of select.epoll object>, <built-in function sleep>
        return function.starts_with("<built-in ") &&
               contains_any(function, {" poll of select.", " select of select.", " function sleep>", " sleep of ",
                                       " acquire of _thread.lock", " accept of ", " recv of ", " recv_into of "});
    for (const Known& known : kKnown) {
        bool same = file.ends_with(known.file) &&
                    (file.size() == known.file.size() || file[file.size() - known.file.size() - 1] == '/');
        if (!same) continue;
        std::size_t at = known.functions.find(function);
        while (at != known.functions.npos) {
            if (known.functions[at - 1] == ' ' && known.functions[at + function.size()] == ' ') return true;
            at = known.functions.find(function, at + 1);
        }
    }
    return false;
}

bool asks_in_python(std::string_view frame) {
    return contains_any(frame, {"http/client.py", "urllib/request.py", "urllib3/", "requests/sessions.py", "httpx/",
                                "aiohttp/client", "botocore/", "s3fs/", "gcsfs/", "fsspec/", "psycopg", "redis/"});
}

bool names_training(std::string_view name) {
    return contains_any(name, {"autograd::engine", "Backward", "backward", "Optimizer.", "optimizer", "ProfilerStep#",
                               "train_", "training"});
}

}  // namespace gpuprof::knowledge
