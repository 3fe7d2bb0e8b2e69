#pragma once
// As much of ELF as it takes to find the interpreter's variables in a mapped file: 64-bit
// little-endian executables and shared objects, read by small bounded reads (a libpython may have
// 100 MB, of which some pages are needed). The bytes are foreign: everything is checked, nothing is
// trusted to be consistent.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/maps.h"

namespace linescope {

// Where the file's bytes come from.
class ElfSource {
 public:
  virtual ~ElfSource() = default;
  // False unless all of [offset, offset + size) could be read.
  virtual bool ReadAt(uint64_t offset, void* out, size_t size) const = 0;
  [[nodiscard]] virtual uint64_t size() const = 0;
};

std::unique_ptr<ElfSource> ElfSourceFromFd(UniqueFd fd);
// `bytes` must outlive the source.
std::unique_ptr<ElfSource> ElfSourceFromBytes(std::span<const std::byte> bytes);

struct ElfSegment {      // a PT_LOAD program header
  uint64_t address = 0;  // in the file's own numbering
  uint64_t offset = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  bool writable = false;
  bool executable = false;
};

struct ElfSection {
  std::string name;
  uint64_t address = 0;  // in the file's own numbering; 0: not loaded
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct ElfSymbol {
  uint64_t address = 0;  // in the file's own numbering
  uint64_t size = 0;
};

// The headers are read when opening; tables when asked for. Addresses are the file's own: add
// LoadBias for those in the process.
class ElfFile {
 public:
  // `name` is for messages. kUnsupported: no ELF file, or not of x86-64's or aarch64's kind
  // (64-bit, little-endian, executable or shared); kCorrupt: an ELF file whose headers make no
  // sense.
  static Result<ElfFile> Open(std::unique_ptr<ElfSource> source, std::string name);

  // Of a file whose bytes are those that a process has mapped at `mappings`, and may have changed
  // since. Has no sections: their headers are in no segment.
  static Result<ElfFile> OpenLoaded(std::unique_ptr<ElfSource> source, std::string name,
                                    std::span<const Mapping> mappings);

  // ET_EXEC: the file's addresses are the process's.
  [[nodiscard]] bool has_fixed_addresses() const { return fixed_addresses_; }
  [[nodiscard]] uint16_t machine() const { return machine_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }

  // What to add to the file's addresses (modulo 2^64), given the mappings of one instance of the
  // file in the process. None when no mapping shows a loadable segment.
  [[nodiscard]] std::optional<uint64_t> LoadBias(std::span<const Mapping> mappings) const;

  // By the section headers, which survive `strip`, but not `strip --strip-section-headers` or
  // packers. nullopt: the file has no such section, or no section headers.
  Result<std::optional<ElfSection>> FindSection(std::string_view name) const;

  // A *defined* dynamic symbol, by PT_DYNAMIC and its hash tables, so without section headers, too.
  // nullopt: the file exports none of that name.
  Result<std::optional<ElfSymbol>> FindExported(std::string_view name) const;
  // Then one of .symtab, which takes reading all of its names. nullopt: the file defines none.
  Result<std::optional<ElfSymbol>> FindSymbol(std::string_view name) const;

 private:
  struct SectionHeader;
  struct Dynamic;
  class SymbolTable;
  using MaybeSymbol = Result<std::optional<ElfSymbol>>;

  ElfFile() = default;
  Status ReadHeaders();
  Result<std::vector<SectionHeader>> ReadSectionHeaders() const;
  Result<std::string> SectionName(const SectionHeader& names, const SectionHeader& header) const;
  Result<std::optional<Dynamic>> ReadDynamic() const;
  MaybeSymbol FindByGnuHash(const Dynamic& dynamic, std::string_view name) const;
  MaybeSymbol FindBySysvHash(const Dynamic& dynamic, std::string_view name) const;
  MaybeSymbol FindInSections(uint32_t section_type, std::string_view name) const;
  [[nodiscard]] std::optional<uint64_t> OffsetOf(uint64_t address) const;
  [[nodiscard]] bool InFile(uint64_t offset, uint64_t size) const;

  std::unique_ptr<ElfSource> source_;
  std::string name_;
  bool fixed_addresses_ = false;
  uint16_t machine_ = 0;
  uint64_t loaded_bias_ = 0;  // 0: not loaded
  std::vector<ElfSegment> segments_;
  uint64_t dynamic_offset_ = 0;
  uint64_t dynamic_size_ = 0;
  uint64_t section_headers_offset_ = 0;
  uint32_t section_count_ = 0;        // 0: none, or in the first section header
  uint32_t section_names_index_ = 0;  // SHN_XINDEX: in the first section header
};

}  // namespace linescope
