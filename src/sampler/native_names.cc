#include "sampler/native_names.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/file_name.h"
#include "process/elf.h"
#include "process/modules.h"

namespace linescope {
namespace {

constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

}  // namespace

std::vector<CodeRange> FindEvaluationLoop(int file) {
  // Compilers set rarely executed parts of it apart (.cold, .part.0), and clones (.lto_priv.0).
  std::vector<CodeRange> ranges = FindFunctions(file, [](std::string_view name) {
    return name.starts_with(kLoop) && (name.size() == kLoop.size() || name[kLoop.size()] == '.');
  });
  if (!ranges.empty()) return ranges;
  // Without section headers the loader's tables still name what is exported.
  auto elf = ElfFile::Open(ElfSourceFromFd(UniqueFd(::fcntl(file, F_DUPFD_CLOEXEC, 0))), "");
  if (!elf) return ranges;
  const auto symbol = elf->FindSymbol(kLoop);
  if (symbol && *symbol) {
    ranges.push_back({(*symbol)->address, (*symbol)->address + (*symbol)->size});
  }
  return ranges;
}

UniqueFd OpenCode(int pid, RemoteMemory* memory, const CodeModule& module) {
  if (module.file.inode() != 0) {
    if (auto file = OpenMappedFile(pid, module.file.mappings.front())) return std::move(*file);
  }
  return CopyElfImage(memory, module);
}

NativeRegistry::FileId NativeRegistry::IdOf(const CodeModule& module) {
  const Mapping& first = module.file.mappings.front();
  return {first.device_major, first.device_minor, first.inode, first.path};
}

uint32_t NativeRegistry::ModuleOf(int pid, RemoteMemory* memory, const CodeModule& module,
                                  bool interpreter) {
  const auto [at, added] =
      modules_.try_emplace(IdOf(module), static_cast<uint32_t>(modules_.size()));
  if (added) {
    new_modules_.push_back({.path = module.file.path,
                            .file = OpenCode(pid, memory, module),
                            .pid = pid,
                            .interpreter = interpreter});
  }
  return at->second;
}

uint32_t NativeRegistry::LocationOf(uint32_t module, uint64_t address) {
  const auto [at, added] =
      locations_.try_emplace({module, address}, static_cast<uint32_t>(locations_.size()));
  if (added) new_locations_.push_back({module, address});
  return at->second;
}

const std::vector<CodeRange>& NativeRegistry::LoopOf(int pid, RemoteMemory* memory,
                                                     const CodeModule& module) {
  const auto [at, added] = loops_.try_emplace(IdOf(module));
  if (added) {
    if (const UniqueFd file = OpenCode(pid, memory, module)) {
      at->second = FindEvaluationLoop(file.get());
    }
  }
  return at->second;
}

std::vector<NativeModule> NativeRegistry::TakeModules() { return std::exchange(new_modules_, {}); }
std::vector<NativeLocation> NativeRegistry::TakeLocations() {
  return std::exchange(new_locations_, {});
}

void NativeNames::Add(NativeModule module) { modules_.emplace_back().info = std::move(module); }

std::vector<NativeFunction> NativeNames::At(const NativeLocation& location) {
  Module& module = modules_[location.module];
  if (!std::exchange(module.asked, true) && module.info.file) {
    auto opened = SymbolFile::Open(std::move(module.info.file), module.info.path,
                                   {fmt::format("/proc/{}/root", module.info.pid), ""});
    if (opened) module.symbols = std::move(*opened);
  }
  std::vector<NativeFunction> functions;
  if (module.symbols) {
    functions = module.symbols->At(location.address);
  } else {
    const std::string& path = module.info.path;
    NativeFunction function;
    function.name = FileName(path);
    function.file = path;
    functions.push_back(std::move(function));
  }
  if (module.info.interpreter) {
    std::erase_if(functions, [](const NativeFunction& function) {
      return !function.named || IsCallMachinery(function.name);
    });
  }
  return functions;
}

bool NativeNames::IsCallMachinery(std::string_view function) {
  // Objects/call.c, Python/ceval.c, Objects/methodobject.c, descrobject.c, classobject.c,
  // genobject.c and typeobject.c of 3.8 to 3.15.
  static constexpr std::array<std::string_view, 34> kPrefixes = {"_PyEval_",
                                                                 "PyEval_",
                                                                 "_PyFunction_",
                                                                 "_PyObject_Vectorcall",
                                                                 "PyObject_Vectorcall",
                                                                 "_PyObject_VectorcallTstate",
                                                                 "_PyObject_MakeTpCall",
                                                                 "_PyObject_Call",
                                                                 "PyObject_Call",
                                                                 "_PyObject_FastCall",
                                                                 "_PyVectorcall_",
                                                                 "PyVectorcall_",
                                                                 "_PyMethodDef_Raw",
                                                                 "_PyCFunction_",
                                                                 "PyCFunction_Call",
                                                                 "_TAIL_CALL_",
                                                                 "_PyGen_Send",
                                                                 "_PyStack_",
                                                                 "cfunction_",
                                                                 "cfunction_call",
                                                                 "method_vectorcall",
                                                                 "vectorcall_",
                                                                 "builtin_exec",
                                                                 "call_function",
                                                                 "do_call",
                                                                 "eval_frame",
                                                                 "function_code_fastcall",
                                                                 "gen_send_ex",
                                                                 "gen_iternext",
                                                                 "object_vacall",
                                                                 "slot_tp_",
                                                                 "type_call",
                                                                 "_PyErr_CheckSignals",
                                                                 "method_call"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return function.starts_with(prefix); });
}

}  // namespace linescope
