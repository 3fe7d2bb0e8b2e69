#include "python/runtime.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/file_name.h"
#include "process/modules.h"
#include "process/permissions.h"
#include "process/procfs.h"
#include "python/dict_reader.h"
#include "python/target_words.h"
#include "python/thread_list.h"

namespace linescope {
namespace {

// `interp` is the head of the list of interpreters.
RuntimeState ProbeInterpreter(RemoteMemory* memory, const layout::Table& table, Address interp) {
  if (interp == 0) return RuntimeState::kStarting;
  Address thread = 0, back = 0;
  if (!PlausiblePointer(interp) ||
      !memory->ReadValue(interp + table.interpreter.threads_head, &thread)) {
    return RuntimeState::kBad;
  }
  if (thread == 0) return RuntimeState::kStarting;
  if (!PlausiblePointer(thread) || !memory->ReadValue(thread + table.thread.interpreter, &back)) {
    return RuntimeState::kBad;
  }
  return back == interp ? RuntimeState::kReady : RuntimeState::kBad;
}

// The dictionary of `sys` in the first interpreter; 0 as long as there is none.
Address SysDict(RemoteMemory* memory, const layout::Table& table, Address runtime) {
  Address interp = 0, sysdict = 0;
  if (!memory->ReadValue(runtime + table.runtime.interpreters_head, &interp) ||
      !memory->ReadValue(interp + table.interpreter.sysdict, &sysdict) ||
      !PlausiblePointer(sysdict)) {
    return 0;
  }
  return sysdict;
}

// Before 3.13 the runtime does not say where objects keep their type.
bool TellsNoOffsets(const layout::Table& table) { return table.minor < 13; }

bool IsDict(RemoteMemory* memory, const layout::Table& table, Address object) {
  return ObjectReader(memory, &table).TypeName(object) == "dict";
}

// Of sys.hexversion; nullopt while the interpreter is not that far, or where the layout is another.
std::optional<PythonVersion> ReadSysVersion(RemoteMemory* memory, const layout::Table& table,
                                            Address runtime) {
  const Address sysdict = SysDict(memory, table, runtime);
  if (sysdict == 0) return std::nullopt;
  const ObjectReader objects(memory, &table);
  DictReader dicts(&objects);
  const Address hexversion = dicts.Find(sysdict, "hexversion");
  const auto hex = hexversion == 0 ? std::nullopt : dicts.Int(hexversion);
  if (!hex || *hex >> 24 != 3) return std::nullopt;
  return PythonVersion::FromHex(static_cast<uint32_t>(*hex));
}

// Versions whose runtime has neither a table of offsets nor a symbol Py_Version.
bool TellsNoVersion(const layout::Table& table) { return table.minor < 11; }

// The minor version in a name like libpython3.8.so.1.0 or python3.8.
std::optional<int> MinorInName(const std::string& path) {
  constexpr std::string_view kName = "python3.";
  const size_t at = path.rfind(kName);
  int minor = 0;
  if (at == std::string::npos ||
      std::from_chars(path.data() + at + kName.size(), path.data() + path.size(), minor).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return minor;
}

struct Candidate {
  Address address = 0;
  std::string found_by;
  std::optional<uint32_t> version_hex;  // from Py_Version
  bool debug = false;
};

// Where the files say that the runtime is.
std::vector<Candidate> CandidatesOf(const ElfFile& elf, const Module& module,
                                    RemoteMemory* memory) {
  std::vector<Candidate> candidates;
  const std::optional<uint64_t> bias = elf.LoadBias(module.mappings);
  if (!bias) return candidates;
  auto add = [&](uint64_t address, const char* how) {
    for (const Candidate& known : candidates) {
      if (known.address == address + *bias) return;
    }
    candidates.push_back({address + *bias, how, std::nullopt, false});
  };
  const auto exported = elf.FindExported("_PyRuntime");
  const bool exports = exported && *exported;
  // What belongs to the runtime is exported where the runtime is: no need to search all symbols for
  // what most interpreters have not.
  auto find = [&](std::string_view name) {
    return exports ? elf.FindExported(name) : elf.FindSymbol(name);
  };
  if (auto symbol = exports ? exported : elf.FindSymbol("_PyRuntime"); symbol && *symbol) {
    add((*symbol)->address, "symbol");
  }
  if (auto section = elf.FindSection(".PyRuntime");
      section && *section && (*section)->address != 0) {
    add((*section)->address, "section");
  }
  if (candidates.empty()) return candidates;
  // What Py_DECREF calls where references are counted as a whole (Py_REF_DEBUG), extensions' too.
  if (auto symbol = find("_Py_NegativeRefcount"); symbol && *symbol) {
    for (Candidate& candidate : candidates) candidate.debug = true;
  }
  if (auto symbol = find("Py_Version"); symbol && *symbol) {
    // const unsigned long Py_Version = PY_VERSION_HEX; since 3.11
    uint64_t hex = 0;
    if (memory->ReadValue((*symbol)->address + *bias, &hex) && hex >> 24 == 3) {
      for (Candidate& candidate : candidates) candidate.version_hex = static_cast<uint32_t>(hex);
    }
  }
  return candidates;
}

// A version newer than any known: what its own table says is tried by the form of the newest known.
Result<PythonRuntime> IdentifyNewer(PythonRuntime runtime, std::span<const std::byte> head,
                                    RemoteMemory* memory) {
  runtime.table = LayoutForNewer();
  const Status applied = ApplyDebugOffsets(head, &runtime.table);
  const RuntimeState state =
      applied ? ProbeRuntime(memory, runtime.table, runtime.address) : RuntimeState::kBad;
  if (state == RuntimeState::kBad) {
    return Fail(ErrorCode::kUnsupported,
                "this is Python {}, whose table of offsets is not like that of 3.{}; this version "
                "of LineScope reads 3.{} to 3.{}",
                runtime.version.ToString(), kNewestMinor, kOldestMinor, kNewestMinor);
  }
  if (state == RuntimeState::kReady) {
    const auto version = ReadSysVersion(memory, runtime.table, runtime.address);
    if (version && version->minor != runtime.version.minor) {
      return Fail(ErrorCode::kUnsupported, "this is Python {}, which LineScope cannot read",
                  runtime.version.ToString());
    }
  }
  runtime.warnings.push_back(
      fmt::format("Python {} is newer than this version of LineScope knows (3.{}); it is read by "
                  "its own table of offsets",
                  runtime.version.ToString(), kNewestMinor));
  return runtime;
}

Result<PythonRuntime> Identify(const Candidate& candidate, const Module& module,
                               RemoteMemory* memory) {
  PythonRuntime runtime;
  runtime.address = candidate.address;
  runtime.file = module.path;
  runtime.found_by = candidate.found_by;
  runtime.debug = candidate.debug;
  std::byte head[kDebugOffsetsBytes];
  const bool have_head = memory->ReadExact(candidate.address, head, sizeof head);
  if (have_head) {
    if (const auto header = ReadDebugOffsetsHeader(head)) {
      runtime.version = header->version;
      if (runtime.version.major == 3 && runtime.version.minor > kNewestMinor) {
        return IdentifyNewer(std::move(runtime), head, memory);
      }
      LS_TRY(table, LayoutFor(runtime.version));
      runtime.table = table;
      LS_CHECK_OK(ApplyDebugOffsets(head, &runtime.table));
      return runtime;
    }
  }
  if (candidate.version_hex) {
    runtime.version = PythonVersion::FromHex(*candidate.version_hex);
    LS_TRY(table, LayoutFor(runtime.version));
    runtime.table = table;
    FitObjectHead(memory, runtime.address, &runtime.table);
    return runtime;
  }
  // No version in sight: the one that the interpreter itself tells when it is read so.
  for (const layout::Table* table : layout::kTables) {
    if (!TellsNoOffsets(*table)) break;
    for (const layout::Table& form : {*table, layout::WithTracedReferences(*table)}) {
      if (const auto version = ReadSysVersion(memory, form, candidate.address);
          version && version->minor == form.minor) {
        runtime.table = form;
        runtime.version = *version;
        return runtime;
      }
    }
  }
  // It may be just coming up.
  const std::optional<int> minor = MinorInName(module.path);
  for (const layout::Table* table : layout::kTables) {
    if (TellsNoVersion(*table) && table->minor == minor) {
      runtime.table = *table;
      runtime.version = {3, *minor, 0, 0};
      return runtime;
    }
  }
  return Fail(
      ErrorCode::kUnsupported,
      "{} holds a Python interpreter whose version cannot be told{}; LineScope reads 3.{} to "
      "3.{}",
      module.path, minor ? fmt::format(" (by its name 3.{})", *minor) : "", kOldestMinor,
      kNewestMinor);
}

// Whether the first thread of `interp` is one that the kernel knows in the process. Circular lists
// of pointers, as an allocator's bins are, pass ProbeInterpreter; this they do not.
bool HasKernelThread(RemoteMemory* memory, const layout::Table& table, Address interp,
                     const std::vector<int>& tids) {
  Address thread = 0;
  if (!memory->ReadValue(interp + table.interpreter.threads_head, &thread) || thread == interp) {
    return false;
  }
  const auto native_id = ReadNativeId(memory, table, thread);
  return native_id && std::ranges::find(tids, *native_id) != tids.end();
}

// Ids of the process's threads as the process itself sees them.
std::vector<int> OwnThreadIds(int pid) {
  std::vector<int> ids;
  if (auto tids = ListThreads(pid)) {
    for (const int tid : *tids) {
      auto status = ReadStatus(tid);
      ids.push_back(status && !status->ns_pids.empty() ? status->ns_pids.back() : tid);
    }
  }
  return ids;
}

// Looks for the runtime in the writable memory of `module` and the anonymous memory right behind it
// (.bss): the cookie of 3.13+, or a word that leads interpreter -> thread -> interpreter.
std::optional<PythonRuntime> Scan(const Module& module, const std::vector<Mapping>& maps,
                                  const std::vector<int>& tids, RemoteMemory* memory) {
  std::vector<Mapping> writable;
  for (const Mapping& mapping : module.mappings) {
    if (mapping.writable && mapping.readable) writable.push_back(mapping);
  }
  for (const Mapping& mapping : maps) {
    if (mapping.writable && mapping.readable && mapping.inode == 0 && mapping.path.empty() &&
        mapping.start == module.end()) {
      writable.push_back(mapping);
    }
  }
  auto readable = [&](Address address) {
    auto it = std::upper_bound(maps.begin(), maps.end(), address,
                               [](Address value, const Mapping& m) { return value < m.end; });
    return it != maps.end() && it->Contains(address) && it->readable && it->writable;
  };
  constexpr size_t kBlock = 1 << 20;
  for (const Mapping& mapping : writable) {
    for (Address at = mapping.start; at < mapping.end; at += kBlock) {
      std::vector<std::byte> block(std::min<uint64_t>(kBlock, mapping.end - at));
      if (!memory->ReadExact(at, block.data(), block.size())) break;
      for (size_t i = 0; i + 8 <= block.size(); i += 8) {
        if (ReadDebugOffsetsHeader(std::span(block).subspan(i))) {
          auto runtime = Identify({at + i, "scan", std::nullopt, false}, module, memory);
          if (runtime &&
              ProbeRuntime(memory, runtime->table, runtime->address) == RuntimeState::kReady) {
            return *runtime;
          }
        }
        Address interp = 0;
        std::memcpy(&interp, block.data() + i, 8);
        if (!PlausiblePointer(interp) || !readable(interp)) continue;
        for (const layout::Table* table : layout::kTables) {
          if (!TellsNoOffsets(*table)) break;  // those have the cookie
          if (ProbeInterpreter(memory, *table, interp) != RuntimeState::kReady ||
              !HasKernelThread(memory, *table, interp, tids)) {
            continue;
          }
          auto runtime =
              Identify({at + i - table->runtime.interpreters_head, "scan", std::nullopt, false},
                       module, memory);
          if (runtime) return *runtime;
        }
      }
    }
  }
  return std::nullopt;
}

// Learns where the C library keeps a thread's id in what pthread_t points to: where the words of
// all threads are ids that the kernel knows in the process, no two the same.
void FindTidInPthread(int pid, RemoteMemory* memory, PythonRuntime* runtime) {
  const std::vector<int> tids = OwnThreadIds(pid);
  ThreadList list;
  ReadThreadList(memory, runtime->table, runtime->address, &list);
  std::vector<std::array<int32_t, 256>> structs;
  for (const PythonThread& thread : list.threads) {
    if (!memory->ReadValue(thread.pthread_id, &structs.emplace_back())) structs.pop_back();
  }
  auto fits = [&](size_t word) {
    std::vector<int> ids;
    for (const auto& words : structs) ids.push_back(words[word]);
    std::ranges::sort(ids);
    return std::ranges::adjacent_find(ids) == ids.end() && std::ranges::all_of(ids, [&](int id) {
             return std::ranges::find(tids, id) != tids.end();
           });
  };
  uint32_t& tid_at = runtime->table.thread.tid_in_pthread;
  if (structs.empty() || fits(tid_at / 4)) return;
  for (size_t word = 0; word < structs.front().size(); ++word) {
    if (fits(word)) {
      tid_at = static_cast<uint32_t>(word * 4);
      return;
    }
  }
  runtime->warnings.push_back(fmt::format(
      "the C library of process {} keeps threads' ids where LineScope cannot find them", pid));
}

std::string AnotherRuntime(int pid, const PythonRuntime& read, const PythonRuntime& other) {
  return fmt::format(
      "process {} runs two interpreters: Python {} of {}, which is shown, and Python {} of {}, "
      "which is not",
      pid, read.version.ToString(), read.file, other.version.ToString(), other.file);
}

// Says what was tried: which files, for what, of which versions.
Error NothingFound(int pid, std::span<const Module> modules,
                   std::span<const std::string> unopened) {
  constexpr size_t kListed = 12;
  std::vector<std::string> files;
  for (const Module& module : modules.first(std::min(modules.size(), kListed))) {
    files.push_back(module.path);
  }
  if (modules.size() > kListed) {
    files.push_back(fmt::format("{} more", modules.size() - kListed));
  }
  std::string what = fmt::format(
      "process {} runs no Python interpreter that LineScope can find: it looked for the symbol "
      "_PyRuntime, the section .PyRuntime, and in writable memory for an interpreter of Python "
      "3.{} to 3.{}, in the code that is mapped: {}",
      pid, kOldestMinor, kNewestMinor,
      modules.empty() ? "none" : fmt::to_string(fmt::join(files, ", ")));
  if (!unopened.empty()) {
    what += fmt::format("; could not be opened: {}", fmt::join(unopened, ", "));
  }
  return {ErrorCode::kNotPython, what};
}

}  // namespace

void FitObjectHead(RemoteMemory* memory, Address runtime, layout::Table* table) {
  const Address sysdict = SysDict(memory, *table, runtime);
  if (sysdict == 0 || !TellsNoOffsets(*table) || IsDict(memory, *table, sysdict)) return;
  const layout::Table traced = layout::WithTracedReferences(*table);
  if (IsDict(memory, traced, sysdict)) *table = traced;
}

std::string DescribePython(RemoteMemory* memory, const PythonRuntime& runtime) {
  std::string text = runtime.version.ToString();
  if (runtime.debug) text += " debug";
  if (!runtime.table.free_threaded) return text;
  Address interp = 0;
  memory->ReadValue(runtime.address + runtime.table.runtime.interpreters_head, &interp);
  const auto gil = ReadGilEnabled(memory, runtime.table, interp);
  return text + " free-threaded" + (!gil ? "" : *gil ? ", GIL on" : ", no GIL");
}

void CompleteRuntime(int pid, RemoteMemory* memory, PythonRuntime* runtime) {
  if (runtime->version.hex == 0) {
    if (const auto version = ReadSysVersion(memory, runtime->table, runtime->address)) {
      runtime->version = *version;
    }
  }
  if (runtime->table.thread.native_id == layout::kNone) FindTidInPthread(pid, memory, runtime);
}

RuntimeState ProbeRuntime(RemoteMemory* memory, const layout::Table& table, Address runtime) {
  Address interp = 0;
  if (!memory->ReadValue(runtime + table.runtime.interpreters_head, &interp)) {
    return RuntimeState::kBad;
  }
  const RuntimeState state = ProbeInterpreter(memory, table, interp);
  if (state != RuntimeState::kReady || !TellsNoOffsets(table)) return state;
  if (!TellsNoVersion(table)) {
    const Address sysdict = SysDict(memory, table, runtime);
    if (sysdict == 0) return RuntimeState::kStarting;
    return IsDict(memory, table, sysdict) ? RuntimeState::kReady : RuntimeState::kBad;
  }
  const auto version = ReadSysVersion(memory, table, runtime);
  if (!version) return RuntimeState::kStarting;
  return version->minor == table.minor ? RuntimeState::kReady : RuntimeState::kBad;
}

Result<PythonRuntime> FindRuntime(int pid, RemoteMemory* memory, ScanMemory scan) {
  auto read = ReadMaps(pid);
  // A program that was set-uid forbids it from its exec on, when its memory may be open already.
  if (!read && read.error().code == ErrorCode::kDenied) {
    return std::unexpected(AccessError(pid, EPERM));
  }
  LS_TRY(maps, std::move(read));
  if (maps.empty()) return Fail(ErrorCode::kGone, "process {} has ended", pid);
  std::vector<Module> modules;
  for (Module& module : GroupModules(maps)) {
    if (module.has_code()) modules.push_back(std::move(module));
  }
  // Those first, and once there is one, only those: opening all would be slow.
  auto called_python = [](const Module& module) {
    return FileName(module.path).find("python") != std::string::npos;
  };
  std::ranges::stable_partition(modules, called_python);
  std::optional<Error> refusal;
  std::optional<PythonRuntime> ready, starting;
  std::vector<std::string> unopened;
  for (const Module& module : modules) {
    if (ready && !called_python(module)) break;
    auto elf = OpenModule(pid, module, memory);
    if (!elf) {
      unopened.push_back(fmt::format("{} ({})", module.path, elf.error().what));
      continue;
    }
    for (const Candidate& candidate : CandidatesOf(*elf, module, memory)) {
      auto runtime = Identify(candidate, module, memory);
      if (!runtime) {
        refusal = runtime.error();
        continue;
      }
      switch (ProbeRuntime(memory, runtime->table, runtime->address)) {
        case RuntimeState::kReady:
          CompleteRuntime(pid, memory, &*runtime);
          if (!ready) {
            ready = *runtime;
          } else if (runtime->address != ready->address) {
            ready->warnings.push_back(AnotherRuntime(pid, *ready, *runtime));
          }
          break;
        case RuntimeState::kStarting:
          if (!starting) starting = *runtime;
          break;
        case RuntimeState::kBad:
          refusal =
              Error{ErrorCode::kUnsupported,
                    fmt::format("{} holds Python {}, but its memory is not laid out as expected",
                                module.path, runtime->version.ToString())};
      }
    }
  }
  if (ready) return *ready;
  if (starting) return *starting;
  if (refusal) return std::unexpected(*refusal);
  if (scan == ScanMemory::kYes) {
    const std::vector<int> tids = OwnThreadIds(pid);
    for (const Module& module : modules) {
      if (auto runtime = Scan(module, maps, tids, memory)) {
        CompleteRuntime(pid, memory, &*runtime);
        return *runtime;
      }
    }
  }
  return std::unexpected(NothingFound(pid, modules, unopened));
}

}  // namespace linescope
