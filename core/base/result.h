// Errors as values. Core functions return Result<T> or Status; they never throw or print. A message says in one line
// what is wrong, where (file, offset, row) and what to do.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/base/exit_code.h"

namespace gpuprof::inline base {

struct Error {
    ExitCode code = ExitCode::internal;
    std::string message;
};

// Either a T or an Error. Reading the wrong side is a defect and aborts.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}
    Result(Error error) : state_(std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }
    T& value() & { return checked<0>(); }
    const T& value() const& { return const_cast<Result*>(this)->checked<0>(); }
    T&& value() && { return std::move(checked<0>()); }
    const Error& error() const { return const_cast<Result*>(this)->template checked<1>(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    template <std::size_t Side>
    auto& checked() {
        if (state_.index() != Side) std::abort();
        return *std::get_if<Side>(&state_);
    }
    std::variant<T, Error> state_;
};

// Success, or an Error.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}
    bool ok() const { return !error_.has_value(); }
    explicit operator bool() const { return ok(); }
    const Error& error() const {
        if (!error_) std::abort();
        return *error_;
    }

private:
    std::optional<Error> error_;
};

}  // namespace gpuprof::base
