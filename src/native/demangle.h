#pragma once
// Names of functions as their authors wrote them.
#include <string>
#include <string_view>

namespace linescope {

// Of C++ (Itanium ABI) and Rust (both manglings), without parameters and without the hash that Rust
// appends, nor what compilers append to copies and parts of functions; of what Cython generated,
// the Python name. Other names come back as they are.
std::string Demangle(const std::string& symbol);

// "pkg.mod.Class.method" for __pyx_pw_3pkg_3mod_5Class_1method; empty: not one of Cython's.
std::string CythonName(std::string_view symbol);

}  // namespace linescope
