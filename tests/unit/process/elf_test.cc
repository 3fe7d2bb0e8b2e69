#include "process/elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "elf_builder.h"
#include "process/live_memory.h"
#include "process/modules.h"

namespace linescope {
namespace {

using ::testing::HasSubstr;

Result<ElfFile> FromString(const std::string& bytes) {
  return ElfFile::Open(ElfSourceFromBytes(std::as_bytes(std::span(bytes))), "test.so");
}

std::optional<uint64_t> SymbolIn(const std::string& bytes, std::string_view name) {
  auto file = FromString(bytes);
  EXPECT_TRUE(file) << file.error().what;
  auto symbol = file->FindSymbol(name);
  EXPECT_TRUE(symbol) << symbol.error().what;
  return *symbol ? std::optional((*symbol)->address) : std::nullopt;
}

TEST(Elf, FindsSymbolsByEachTable) {
  struct Case {
    const char* name;
    ElfSpec spec;
  };
  const ElfSpec base{
      .dynamic_symbols = {{"other", 0x500}, {"needed", 0}, {"wanted", 0x1234}, {"wanted2", 0x99}}};
  std::vector<Case> cases;
  for (const bool sections : {true, false}) {
    for (const auto& [gnu, sysv] : {std::pair{true, false}, {false, true}, {true, true}}) {
      ElfSpec spec = base;
      spec.gnu_hash = gnu;
      spec.sysv_hash = sysv;
      spec.section_headers = sections;
      cases.push_back({sections ? "with section headers" : "without", spec});
    }
  }
  ElfSpec linear = base;
  linear.gnu_hash = false;
  cases.push_back({"no hash table", linear});
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} gnu {} sysv {}", c.name, c.spec.gnu_hash, c.spec.sysv_hash));
    const std::string bytes = BuildElf(c.spec);
    EXPECT_EQ(SymbolIn(bytes, "wanted"), 0x1234U);
    EXPECT_EQ(SymbolIn(bytes, "wanted2"), 0x99U);
    EXPECT_EQ(SymbolIn(bytes, "needed"), std::nullopt) << "undefined";
    EXPECT_EQ(SymbolIn(bytes, "want"), std::nullopt);
    EXPECT_EQ(SymbolIn(bytes, ""), std::nullopt);
  }
}

TEST(Elf, FallsBackToTheFullSymbolTable) {
  // "ted" may point into the end of "wanted" in a linker's string table; here it merely must not be
  // confused with it.
  const std::string bytes = BuildElf(
      {.dynamic_symbols = {{"exported", 1}}, .symbols = {{"wanted", 0x42}, {"local", 0x43}}});
  EXPECT_EQ(SymbolIn(bytes, "wanted"), 0x42U);
  EXPECT_EQ(SymbolIn(bytes, "local"), 0x43U);
  EXPECT_EQ(SymbolIn(bytes, "exported"), 1U);
  EXPECT_EQ(SymbolIn(bytes, "ted"), std::nullopt);
}

TEST(Elf, TellsExportsFromTheRest) {
  const std::string bytes =
      BuildElf({.dynamic_symbols = {{"exported", 0x41}}, .symbols = {{"local", 0x43}}});
  const auto file = FromString(bytes);
  ASSERT_TRUE(file);
  const auto exported = file->FindExported("exported");
  ASSERT_TRUE(exported && *exported);
  EXPECT_EQ((*exported)->address, 0x41U);
  const auto local = file->FindExported("local");
  ASSERT_TRUE(local);
  EXPECT_FALSE(*local);
}

// By words and by pieces, back and forth, within blocks, across them, and over the end.
TEST(Elf, ReadsFilesAsTheyAre) {
  std::string bytes(50'001, '\0');
  std::mt19937 random(1);
  for (char& c : bytes) c = static_cast<char>(random());
  const int fd = ::memfd_create("bytes", MFD_CLOEXEC);
  ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const auto source = ElfSourceFromFd(UniqueFd(fd));
  ASSERT_EQ(source->size(), bytes.size());
  std::string piece;
  for (int i = 0; i < 20'000; ++i) {
    const size_t offset = random() % (bytes.size() + 100);
    piece.assign(i % 10 == 0 ? random() % 10'000 : random() % 64, '\0');
    SCOPED_TRACE(fmt::format("{} bytes at {}", piece.size(), offset));
    const bool inside = offset + piece.size() <= bytes.size();
    ASSERT_EQ(source->ReadAt(offset, piece.data(), piece.size()), inside || piece.empty());
    if (inside) {
      ASSERT_EQ(piece, bytes.substr(offset, piece.size()));
    }
  }
  uint64_t word;
  EXPECT_FALSE(source->ReadAt(UINT64_MAX - 3, &word, sizeof word));
}

TEST(Elf, FindsSections) {
  const std::string bytes = BuildElf({.sections = {{".data", 0x7000}, {".PyRuntime", 0x8000}}});
  auto file = FromString(bytes);
  ASSERT_TRUE(file);
  const auto section = file->FindSection(".PyRuntime");
  ASSERT_TRUE(section && *section);
  EXPECT_EQ((*section)->address, 0x8000U);
  EXPECT_EQ((*section)->size, 16U);
  const auto missing = file->FindSection(".PyRuntim");
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
}

TEST(Elf, SaysNothingFoundWithoutSectionHeaders) {
  const std::string bytes = BuildElf({.section_headers = false});
  const auto section = FromString(bytes)->FindSection(".PyRuntime");
  ASSERT_TRUE(section);
  EXPECT_FALSE(*section);
}

TEST(Elf, RefusesOtherFiles) {
  struct Case {
    const char* what;
    std::string bytes;
    ErrorCode code;
  };
  const std::string good = BuildElf({});
  const auto with = [&](size_t offset, char value) {
    std::string bytes = good;
    bytes[offset] = value;
    return bytes;
  };
  std::string no_load = good;
  no_load[sizeof(Elf64_Ehdr)] = PT_NOTE;
  const Case cases[] = {
      {"not an ELF file", "", ErrorCode::kUnsupported},
      {"not an ELF file", "#!/bin/sh\n" + std::string(100, ' '), ErrorCode::kUnsupported},
      {"not an ELF file", good.substr(0, 40), ErrorCode::kUnsupported},
      {"64-bit", with(EI_CLASS, ELFCLASS32), ErrorCode::kUnsupported},
      {"little-endian", with(EI_DATA, ELFDATA2MSB), ErrorCode::kUnsupported},
      {"neither an executable", with(offsetof(Elf64_Ehdr, e_type), ET_REL),
       ErrorCode::kUnsupported},
      {"no program headers", with(offsetof(Elf64_Ehdr, e_phnum), 0), ErrorCode::kCorrupt},
      {"beyond its end", good.substr(0, sizeof(Elf64_Ehdr) + 10), ErrorCode::kCorrupt},
      {"more than Linux loads", with(offsetof(Elf64_Ehdr, e_phnum) + 1, 0x7f), ErrorCode::kCorrupt},
      {"no loadable segment", no_load, ErrorCode::kCorrupt},
  };
  for (const Case& c : cases) {
    const auto file = FromString(c.bytes);
    ASSERT_FALSE(file) << c.what;
    EXPECT_EQ(file.error().code, c.code) << c.what;
    EXPECT_THAT(file.error().what, HasSubstr(c.what));
    EXPECT_THAT(file.error().what, HasSubstr("test.so"));
  }
}

// Every truncation and every damaged byte must end in an answer or an error, never in a crash or a
// hang.
TEST(Elf, SurvivesDamage) {
  const std::string good = BuildElf({.sysv_hash = true,
                                     .dynamic_symbols = {{"a", 1}, {"wanted", 2}},
                                     .symbols = {{"b", 3}},
                                     .sections = {{".PyRuntime", 4}}});
  const auto exercise = [](const std::string& bytes) {
    auto file = FromString(bytes);
    if (!file) return;
    (void)file->FindSymbol("wanted");
    (void)file->FindSymbol("absent");
    (void)file->FindSection(".PyRuntime");
    const Mapping mapping{.start = 0x10000, .end = 0x20000, .path = "/x"};
    (void)file->LoadBias({&mapping, 1});
  };
  for (size_t size = 0; size < good.size(); ++size) exercise(good.substr(0, size));
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bytes = good;
      bytes[at] = value;
      exercise(bytes);
    }
  }
}

Mapping At(Address start, uint64_t offset) {
  return {.start = start, .end = start + 0x1000, .offset = offset, .inode = 1, .path = "/x"};
}

// A file whose program headers are the given ones.
std::string WithSegments(const std::vector<ElfSegment>& segments, uint16_t type = ET_DYN) {
  std::string bytes = BuildElf({.type = type, .section_headers = false});
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_phoff = bytes.size();
  header.e_phnum = static_cast<uint16_t>(segments.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const ElfSegment& segment : segments) {
    Elf64_Phdr program{};
    program.p_type = PT_LOAD;
    program.p_vaddr = segment.address;
    program.p_offset = segment.offset;
    program.p_filesz = segment.file_size;
    program.p_memsz = segment.memory_size;
    bytes.append(reinterpret_cast<const char*>(&program), sizeof program);
  }
  return bytes;
}

TEST(ElfLoadBias, FollowsTheSegmentOfTheMapping) {
  // Several segments, the last at an unaligned offset and with a distance of its own between
  // address and offset.
  const auto file = FromString(WithSegments(
      {{0, 0, 0x1800, 0x1800}, {0x2000, 0x2000, 0x3000, 0x3000}, {0x7c40, 0x5c40, 0x900, 0x2000}}));
  ASSERT_TRUE(file);
  constexpr Address kBias = 0x7f1234560000;
  const Mapping all[] = {At(kBias, 0), At(kBias + 0x2000, 0x2000), At(kBias + 0x7000, 0x5000),
                         At(kBias + 0x8000, 0x6000)};
  EXPECT_EQ(file->LoadBias(all), kBias);
  for (const Mapping& one : all) EXPECT_EQ(file->LoadBias({&one, 1}), kBias) << one.offset;
  const Mapping beyond = At(kBias, 0x9000);
  EXPECT_EQ(file->LoadBias({&beyond, 1}), std::nullopt);
  EXPECT_EQ(file->LoadBias({}), std::nullopt);
}

TEST(ElfLoadBias, DecidesByMajorityWhenSegmentsShareAPage) {
  // Page 0x1000 of the file belongs to both segments, and they lie at different distances.
  const auto file =
      FromString(WithSegments({{0, 0, 0x1400, 0x1400}, {0x5400, 0x1400, 0x1000, 0x1000}}));
  constexpr Address kBias = 0x550000000000;
  const Mapping mappings[] = {At(kBias, 0), At(kBias + 0x5000, 0x1000), At(kBias + 0x6000, 0x2000)};
  EXPECT_EQ(file->LoadBias(mappings), kBias);
}

TEST(ElfLoadBias, IsZeroForFixedAddresses) {
  const auto file = FromString(
      WithSegments({{0x400000, 0, 0x1000, 0x1000}, {0x6ffe10, 0x1e10, 0x200, 0x400}}, ET_EXEC));
  EXPECT_TRUE(file->has_fixed_addresses());
  const Mapping right[] = {At(0x400000, 0), At(0x6ff000, 0x1000)};
  EXPECT_EQ(file->LoadBias(right), 0U);
  const Mapping wrong = At(0x500000, 0);
  EXPECT_EQ(file->LoadBias({&wrong, 1}), std::nullopt);
}

TEST(ElfLoadBias, WorksForSharedObjectsLinkedAtAnAddress) {
  const auto file = FromString(WithSegments({{0x10000000, 0, 0x1000, 0x1000}}));
  const Mapping mapping = At(0x7f0000000000, 0);
  EXPECT_EQ(file->LoadBias({&mapping, 1}), 0x7f0000000000U - 0x10000000U);
}

// Our own libc, found in our maps, must put `qsort` where the dynamic loader says it is.
TEST(ElfLive, AgreesWithTheDynamicLoader) {
  void* const libc = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(libc, nullptr);
  void* const truth = ::dlsym(libc, "qsort");
  ASSERT_NE(truth, nullptr);
  const auto modules = ListCodeModules(::getpid());
  ASSERT_TRUE(modules);
  const auto it = std::ranges::find_if(*modules, [&](const Module& m) {
    const auto address = reinterpret_cast<Address>(truth);
    return address >= m.base() && address < m.end();
  });
  ASSERT_NE(it, modules->end());
  VmReadvMemory memory(::getpid());
  const auto from_file = OpenModule(::getpid(), *it, &memory);
  // As where the file is gone: the loader has changed the addresses of the tables.
  const auto from_memory =
      ElfFile::OpenLoaded(ElfSourceFromMemory(&memory, it->mappings), it->path, it->mappings);
  for (const auto* file : {&from_file, &from_memory}) {
    SCOPED_TRACE(file == &from_file ? "from the file" : "from memory");
    ASSERT_TRUE(*file) << file->error().what;
    const auto symbol = (*file)->FindSymbol("qsort");
    ASSERT_TRUE(symbol && *symbol);
    const auto bias = (*file)->LoadBias(it->mappings);
    ASSERT_TRUE(bias);
    EXPECT_EQ((*symbol)->address + *bias, reinterpret_cast<Address>(truth));
    const auto imported = (*file)->FindSymbol("__tls_get_addr");
    ASSERT_TRUE(imported);
    EXPECT_FALSE(*imported) << "undefined in libc";
  }
}

// Interpreters of the distribution and of pyenv, as far as there are any.
std::vector<std::string> InstalledInterpreters() {
  const char* home = ::getenv("HOME");
  const std::string patterns[] = {
      "/usr/bin/python3.1[0-9]", "/usr/lib/*/libpython3.1[0-9].so.1.0",
      std::string(home != nullptr ? home : "") + "/.pyenv/versions/*/lib/libpython3.1[0-9].so.1.0"};
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    glob_t paths;
    if (::glob(pattern.c_str(), 0, nullptr, &paths) == 0)
      found.insert(found.end(), paths.gl_pathv, paths.gl_pathv + paths.gl_pathc);
    ::globfree(&paths);
  }
  return found;
}

TEST(ElfLive, FindsTheRuntimeOfInterpretersBySectionAndBySymbol) {
  int checked = 0;
  for (const std::string& path : InstalledInterpreters()) {
    SCOPED_TRACE(path);
    auto file =
        ElfFile::Open(ElfSourceFromFd(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))), path);
    ASSERT_TRUE(file) << file.error().what;
    const auto symbol = file->FindSymbol("_PyRuntime");
    ASSERT_TRUE(symbol);
    if (!*symbol) continue;  // a small executable beside a shared libpython
    const auto section = file->FindSection(".PyRuntime");
    ASSERT_TRUE(section && *section);
    EXPECT_EQ((*section)->address, (*symbol)->address);
    EXPECT_LE((*symbol)->size, (*section)->size);
    EXPECT_GT((*symbol)->size, 0U);
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no interpreter is installed where this test looks";
}

}  // namespace
}  // namespace linescope
