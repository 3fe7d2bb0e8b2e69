#include "native/symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/file_name.h"
#include "native/demangle.h"

namespace linescope {
namespace {

constexpr size_t kMaxInlined = 256;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using UniqueElf = std::unique_ptr<Elf, EndElf>;

UniqueElf OpenElf(int file) {
  static const bool ready = elf_version(EV_CURRENT) != EV_NONE;
  return UniqueElf(ready ? elf_begin(file, ELF_C_READ_MMAP_PRIVATE, nullptr) : nullptr);
}

std::string Hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string BuildIdOf(int file) {
  const UniqueElf elf = OpenElf(file);
  const void* id = nullptr;
  const ssize_t size = elf ? dwelf_elf_gnu_build_id(elf.get(), &id) : 0;
  if (size <= 0) return {};
  return Hex({static_cast<const unsigned char*>(id), static_cast<size_t>(size)});
}

// What .gnu_debuglink checks a file by.
uint32_t Checksum(int file) {
  std::array<unsigned char, 65536> buffer;
  uLong sum = ::crc32(0, nullptr, 0);
  for (off_t at = 0;;) {
    const ssize_t size = ::pread(file, buffer.data(), buffer.size(), at);
    if (size <= 0) return static_cast<uint32_t>(sum);
    sum = ::crc32(sum, buffer.data(), static_cast<uInt>(size));
    at += size;
  }
}

UniqueFd OpenRegular(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info;
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return file;
}

// A string attribute, also of the abstract function that an inlined one was made from.
const char* StringOf(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  if (dwarf_attr_integrate(die, attribute, &found) == nullptr) return nullptr;
  return dwarf_formstring(&found);
}

int32_t NumberOf(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(die, attribute, &found) == nullptr ||
      dwarf_formudata(&found, &value) != 0 || value > INT32_MAX) {
    return 0;
  }
  return static_cast<int32_t>(value);
}

std::string NameOf(Dwarf_Die* die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (const char* name = StringOf(die, attribute)) return Demangle(name);
  }
  const char* name = StringOf(die, DW_AT_name);
  return name != nullptr ? Demangle(name) : std::string();
}

// Where a call that was inlined stands.
std::pair<std::string, int32_t> CallSite(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  std::pair<std::string, int32_t> site{"", NumberOf(inlined, DW_AT_call_line)};
  const int32_t number = NumberOf(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(unit, &files, &count) == 0 && static_cast<size_t>(number) < count) {
    if (const char* file = dwarf_filesrc(files, static_cast<size_t>(number), nullptr, nullptr)) {
      site.first = file;
    }
  }
  return site;
}

}  // namespace

struct SymbolFile::State {
  std::string path;
  std::vector<std::string> roots;
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;

  ~State() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  static int FindElf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }
  static int FindDebug(Dwfl_Module* module, void** data, const char*, Dwarf_Addr, const char*,
                       const char* link, GElf_Word checksum, char** found_name);

  std::vector<NativeFunction> FromDebugInformation(uint64_t address);
  NativeFunction FromSymbols(uint64_t address);
};

// Debug files, where GDB looks for them, too: by build id, then by the name in .gnu_debuglink
// beside the file, in .debug, and below /usr/lib/debug. Nothing is fetched over a network.
int SymbolFile::State::FindDebug(Dwfl_Module* module, void** data, const char*, Dwarf_Addr,
                                 const char*, const char* link, GElf_Word checksum,
                                 char** found_name) {
  const auto* state = static_cast<const State*>(*data);
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bits, &address);
  const std::string id = size > 0 ? Hex({bits, static_cast<size_t>(size)}) : std::string();
  const std::string folder = state->path.substr(0, state->path.rfind('/') + 1);
  std::vector<std::string> places;
  if (id.size() > 2) {
    places.push_back("/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  }
  const std::string_view name = link != nullptr ? link : "";
  // dwz keeps what several debug files share in a further one, which these name by its path.
  const bool shared = name.contains('/');
  if (shared) {
    places.clear();
    const std::filesystem::path absolute =
        name.starts_with('/') ? std::filesystem::path(name)
                              : std::filesystem::path("/usr/lib/debug/.build-id/xx") / name;
    places.push_back(absolute.lexically_normal().string());
  } else if (!name.empty()) {
    for (const std::string& place : {folder, folder + ".debug/", "/usr/lib/debug" + folder}) {
      places.push_back(place + std::string(name));
    }
  }
  for (const std::string& root : state->roots) {
    for (const std::string& place : places) {
      UniqueFd file = OpenRegular(root + place);
      if (!file) continue;
      const bool right =
          shared || (!id.empty() ? BuildIdOf(file.get()) == id : Checksum(file.get()) == checksum);
      if (!right) continue;
      *found_name = ::strdup((root + place).c_str());
      return file.Release();
    }
  }
  return -1;
}

SymbolFile::SymbolFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
SymbolFile::~SymbolFile() = default;

Result<std::unique_ptr<SymbolFile>> SymbolFile::Open(UniqueFd file, std::string path,
                                                     std::vector<std::string> roots) {
  static const Dwfl_Callbacks callbacks = {.find_elf = State::FindElf,
                                           .find_debuginfo = State::FindDebug,
                                           .section_address = dwfl_offline_section_address,
                                           .debuginfo_path = nullptr};
  auto state = std::make_unique<State>();
  state->path = std::move(path);
  state->roots = std::move(roots);
  state->dwfl = dwfl_begin(&callbacks);
  if (state->dwfl == nullptr) {
    return Fail(ErrorCode::kInternal, "cannot read symbols: {}", dwfl_errmsg(-1));
  }
  dwfl_report_begin(state->dwfl);
  const std::string name(FileName(state->path));
  // At base 0 the module's addresses are the file's.
  state->module =
      dwfl_report_elf(state->dwfl, name.c_str(), state->path.c_str(), file.get(), 0, true);
  if (state->module == nullptr) {
    return Fail(ErrorCode::kCorrupt, "cannot read symbols of {}: {}", state->path, dwfl_errmsg(-1));
  }
  file.Release();  // it is the module's now
  void** data = nullptr;
  dwfl_module_info(state->module, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *data = state.get();
  if (dwfl_report_end(state->dwfl, nullptr, nullptr) != 0) {
    return Fail(ErrorCode::kCorrupt, "cannot read symbols of {}: {}", state->path, dwfl_errmsg(-1));
  }
  return std::unique_ptr<SymbolFile>(new SymbolFile(std::move(state)));
}

std::vector<NativeFunction> SymbolFile::State::FromDebugInformation(uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) return {};
  Dwarf_Die* scopes = nullptr;
  const int found = dwarf_getscopes(unit, address - bias, &scopes);
  if (found <= 0) return {};
  // The scopes behind an inlined one are those of its definition; its own parents are asked for.
  Dwarf_Die innermost = scopes[0];
  std::free(scopes);
  Dwarf_Die* parents = nullptr;
  const int count = dwarf_getscopes_die(&innermost, &parents);
  if (count <= 0) return {};

  std::vector<NativeFunction> functions;  // innermost first
  std::string file;
  int32_t line = 0;
  if (Dwarf_Line* at = dwarf_getsrc_die(unit, address - bias)) {
    int number = 0;
    if (const char* name = dwarf_linesrc(at, nullptr, nullptr)) file = name;
    if (dwarf_lineno(at, &number) == 0) line = number;
  }
  for (int i = 0; i < count && functions.size() < kMaxInlined; ++i) {
    const int tag = dwarf_tag(&parents[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    NativeFunction function{.name = NameOf(&parents[i]),
                            .file = file.empty() ? path : file,
                            .line = line,
                            .first_line = NumberOf(&parents[i], DW_AT_decl_line)};
    functions.push_back(std::move(function));
    if (tag == DW_TAG_subprogram) break;
    std::tie(file, line) = CallSite(unit, &parents[i]);
  }
  std::free(parents);
  std::ranges::reverse(functions);
  return functions;
}

NativeFunction SymbolFile::State::FromSymbols(uint64_t address) {
  NativeFunction function;
  function.file = path;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr && *name != '\0') {
    function.name = Demangle(name);
    return function;
  }
  // A function without a name is known by where it starts.
  uint64_t start = address;
  Dwarf_Addr bias = 0;
  if (Dwarf_CFI* table = dwfl_module_eh_cfi(module, &bias)) {
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(table, address - bias, &frame) == 0) {
      Dwarf_Addr begin = 0, end = 0;
      dwarf_frame_info(frame, &begin, &end, nullptr);
      if (begin != 0) start = begin + bias;
      std::free(frame);
    }
  }
  function.name = fmt::format("{}+{:#x}", FileName(path), start);
  function.named = false;
  return function;
}

std::vector<NativeFunction> SymbolFile::At(uint64_t address) {
  std::vector<NativeFunction> functions = state_->FromDebugInformation(address);
  if (functions.empty()) {
    functions.push_back(state_->FromSymbols(address));
  } else {
    for (NativeFunction& function : functions) {
      if (function.name.empty()) function.name = state_->FromSymbols(address).name;
    }
  }
  return functions;
}

std::vector<CodeRange> FindFunctions(int file,
                                     const std::function<bool(std::string_view)>& wanted) {
  std::vector<CodeRange> ranges;
  const UniqueElf elf = OpenElf(file);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return ranges;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    const auto count =
        static_cast<int>(std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX));
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
          symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) {
        continue;
      }
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (name == nullptr || !wanted(name)) continue;
      const CodeRange range{symbol.st_value, symbol.st_value + symbol.st_size};
      if (std::ranges::find(ranges, range) == ranges.end()) ranges.push_back(range);
    }
  }
  return ranges;
}

}  // namespace linescope
