#pragma once
// Errors as values. `Error::what` is a sentence for the user: lower case, no full stop, names the
// thing and the next step; `Error::code` is what callers branch on. No exception crosses a module.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <expected>
#include <string>
#include <utility>

namespace linescope {

enum class ErrorCode {
  kGone,         // the process or thread ended
  kDenied,       // the kernel forbids it
  kNotPython,    // no interpreter in the process
  kUnsupported,  // an interpreter or file version that we cannot read
  kCorrupt,      // foreign bytes that make no sense
  kIo,           // files: missing, full, unreadable
  kUsage,        // what the user asked for makes no sense
  kInternal,     // ours
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string what;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

template <class... Args>
[[nodiscard]] std::unexpected<Error> Fail(ErrorCode code, fmt::format_string<Args...> format,
                                          Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Text of `errno` (or of `code`), thread-safe.
inline std::string ErrnoText(int code = errno) {
  char buffer[128];
  return strerror_r(code, buffer, sizeof buffer);
}

#define LS_CONCAT_(a, b) a##b
#define LS_CONCAT(a, b) LS_CONCAT_(a, b)
// LS_TRY(name, expression): declares `name` as the value or returns the error from the enclosing
// function.
#define LS_TRY(name, expression) LS_TRY_(LS_CONCAT(ls_try_, __LINE__), name, expression)
#define LS_TRY_(temporary, name, expression)                            \
  auto&& temporary = (expression);                                      \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  auto name = *std::move(temporary)
// LS_CHECK_OK(expression): returns the error, if any, from the enclosing function.
#define LS_CHECK_OK(expression)                             \
  do {                                                      \
    if (auto ls_status = (expression); !ls_status)          \
      return std::unexpected(std::move(ls_status).error()); \
  } while (false)

}  // namespace linescope
