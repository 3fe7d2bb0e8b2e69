#pragma once
// Names, files and lines of native code, from the symbols and the debug information of a file.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace linescope {

// A function at an address, or one that was inlined there.
struct NativeFunction {
  std::string name;  // demangled; "libfoo.so+0x1a40", where it starts, when it has none
  std::string file;  // the source file where known, else the library
  int32_t line = 0;  // 0: not known
  int32_t first_line = 0;
  bool named = true;
};

// One file with code. Debug information is read when it is first needed: from the file itself, or
// from a separate file, by its build id or .gnu_debuglink, below the roots given. The bytes are
// foreign; elfutils checks them.
class SymbolFile {
 public:
  // `path` is the file's name as the process has it, for messages and for what has no source.
  // `roots` are folders below which its debug file may lie ("/proc/4711/root", ""). The descriptor
  // is owned.
  static Result<std::unique_ptr<SymbolFile>> Open(UniqueFd file, std::string path,
                                                  std::vector<std::string> roots);
  ~SymbolFile();
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;

  // The functions at `address` of the file's own numbering, outermost first: the last one is that
  // of the innermost inlined call. Never empty.
  std::vector<NativeFunction> At(uint64_t address);

 private:
  struct State;
  explicit SymbolFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct CodeRange {
  uint64_t begin = 0, end = 0;  // of the file's own numbering
  bool operator==(const CodeRange&) const = default;
};
// The code of all functions in the symbol tables of a file that `wanted` names, in no order. Empty
// when the file has none, or cannot be read.
std::vector<CodeRange> FindFunctions(int file, const std::function<bool(std::string_view)>& wanted);

}  // namespace linescope
