// The part of libedit's interface that the shell uses (editline(3), history in editline(3)), resolved at run time.
#pragma once

namespace gpuprof::inline cli::libedit {

struct EditLine;
struct History;
struct LineInfo {
    const char *buffer, *cursor, *lastchar;
};
struct HistoryEvent {
    int number;
    const char* text;
};

// Operations of el_set() and history(), and what a bound function returns.
constexpr int kPrompt = 0, kEditor = 2, kSignal = 3, kBind = 4, kAddFunction = 9, kHistory = 10, kGetCharacter = 13,
              kClientData = 14;
constexpr int kSetSize = 1, kEnter = 10, kLoad = 17, kSave = 18, kSetUnique = 20;
constexpr unsigned char kRefresh = 4, kRedisplay = 8, kError = 6;

struct Functions {
    EditLine* (*init)(const char* program, void* in, void* out, void* error) = nullptr;
    void (*end)(EditLine*) = nullptr;
    int (*set)(EditLine*, int operation, ...) = nullptr;
    int (*get)(EditLine*, int operation, ...) = nullptr;
    const char* (*gets)(EditLine*, int* count) = nullptr;
    const LineInfo* (*line)(EditLine*) = nullptr;
    int (*insert)(EditLine*, const char* text) = nullptr;
    void (*remove)(EditLine*, int count) = nullptr;
    void (*resize)(EditLine*) = nullptr;
    History* (*history_init)() = nullptr;
    void (*history_end)(History*) = nullptr;
    int (*history)(History*, HistoryEvent*, int operation, ...) = nullptr;
};

// Null where the system has no libedit. The library stays loaded.
const Functions* load();

}  // namespace gpuprof::cli::libedit
