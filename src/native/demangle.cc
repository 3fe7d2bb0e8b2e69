#include "native/demangle.h"

#include <libiberty/demangle.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace linescope {
namespace {

// Symbols of templates may have 100 KB; nobody reads them, and demangling grows faster than them.
constexpr size_t kLongest = 4096;

bool IsRust(std::string_view symbol) {
  return symbol.starts_with("_R") || symbol.contains("17h");  // its hash: 17 characters, h first
}

// Compilers make copies and parts of functions, and number them: f.constprop.0, f.cold,
// f.lto_priv.0.
std::string_view WithoutCloneSuffix(std::string_view symbol) {
  for (const std::string_view kind :
       {".lto_priv", ".constprop", ".isra", ".part", ".cold", ".localalias", ".llvm"}) {
    const size_t at = symbol.find(kind);
    if (at != std::string_view::npos && at > 0) symbol = symbol.substr(0, at);
  }
  return symbol;
}

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string CythonName(std::string_view symbol) {
  // The names of its C functions (Cython/Compiler/Naming.py): a prefix for the kind, the path of
  // scopes, each with its length before it, and the function's own name. Wrappers and bodies of
  // `def` functions have a number, which keeps redefinitions apart, before that.
  bool numbered = false;
  if (symbol.starts_with("__pyx_f_")) {
    symbol.remove_prefix(8);
  } else {
    for (const std::string_view prefix : {"__pyx_pw_", "__pyx_pf_", "__pyx_gb_"}) {
      if (!symbol.starts_with(prefix)) continue;
      symbol.remove_prefix(prefix.size());
      numbered = true;
      break;
    }
    if (!numbered) return {};
  }
  std::string name;
  while (!symbol.empty() && std::isdigit(static_cast<unsigned char>(symbol.front())) != 0) {
    size_t digits = 0, length = 0;
    while (digits < symbol.size() && digits < 4 &&
           std::isdigit(static_cast<unsigned char>(symbol[digits])) != 0) {
      length = length * 10 + static_cast<size_t>(symbol[digits++] - '0');
    }
    // A scope is followed by "_" and what it holds; the number before a function's name is none.
    const bool scope =
        length > 0 && digits + length + 1 < symbol.size() && symbol[digits + length] == '_';
    if (!scope) {
      if (numbered) symbol.remove_prefix(digits);
      break;
    }
    name += symbol.substr(digits, length);
    name += '.';
    symbol.remove_prefix(digits + length + 1);
  }
  if (name.empty() || symbol.empty()) return {};
  return name.append(symbol);
}

std::string Demangle(const std::string& whole) {
  if (whole.size() > kLongest) return whole;
  const std::string symbol(WithoutCloneSuffix(whole));
  if (symbol.starts_with("__pyx_")) {
    std::string name = CythonName(symbol);
    return name.empty() ? symbol : name;
  }
  if (!symbol.starts_with("_Z") && !symbol.starts_with("_R")) return symbol;
  std::unique_ptr<char, Free> name;
  if (IsRust(symbol)) name.reset(rust_demangle(symbol.c_str(), DMGL_NO_OPTS));
  if (!name) name.reset(cplus_demangle_v3(symbol.c_str(), DMGL_ANSI));
  if (!name) return symbol;
  return name.get();
}

}  // namespace linescope
