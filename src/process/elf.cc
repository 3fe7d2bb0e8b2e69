#include "process/elf.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace linescope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "structures are read as they lie in the file");

constexpr size_t kBytesPerRead = 64 << 10;
// What the kernel and the dynamic loader accept.
constexpr size_t kMaxProgramHeadersSize = 65536;
// Files have tens of thousands of sections at most (one a function, unlinked); more is an attack on
// our memory.
constexpr uint32_t kMaxSections = 1 << 20;
constexpr size_t kMaxSectionName = 256;

// Headers and tables are read word by word: the blocks read last are kept.
class FdSource : public ElfSource {
 public:
  explicit FdSource(UniqueFd fd) : fd_(std::move(fd)) {
    struct stat info;
    if (::fstat(fd_.get(), &info) == 0) size_ = static_cast<uint64_t>(info.st_size);
  }
  bool ReadAt(uint64_t offset, void* out, size_t size) const override {
    const uint64_t inside = offset % kBlockSize;
    if (size > kBlockSize - inside || offset > size_ || size > size_ - offset) {
      return ReadFile(offset, out, size);
    }
    const Block* block = BlockAt(offset - inside);
    if (block == nullptr) return false;
    std::memcpy(out, block->bytes.data() + inside, size);
    return true;
  }
  [[nodiscard]] uint64_t size() const override { return size_; }

 private:
  static constexpr size_t kBlockSize = 4096;
  // Enough for the tables between which one lookup goes to and fro.
  static constexpr size_t kBlocks = 8;
  struct Block {
    uint64_t offset = UINT64_MAX;  // none yet
    std::array<char, kBlockSize> bytes;
  };

  const Block* BlockAt(uint64_t offset) const {
    for (const Block& block : blocks_) {
      if (block.offset == offset) return &block;
    }
    blocks_.reserve(kBlocks);
    Block& block = blocks_.size() < kBlocks ? blocks_.emplace_back() : blocks_[oldest_++ % kBlocks];
    const bool read =
        ReadFile(offset, block.bytes.data(), std::min<uint64_t>(kBlockSize, size_ - offset));
    block.offset = read ? offset : UINT64_MAX;
    return read ? &block : nullptr;
  }

  bool ReadFile(uint64_t offset, void* out, size_t size) const {
    auto* cursor = static_cast<char*>(out);
    while (size > 0) {
      const ssize_t n = ::pread(fd_.get(), cursor, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      cursor += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return true;
  }

  UniqueFd fd_;
  uint64_t size_ = 0;
  mutable std::vector<Block> blocks_;
  mutable size_t oldest_ = 0;
};

class BytesSource : public ElfSource {
 public:
  explicit BytesSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool ReadAt(uint64_t offset, void* out, size_t size) const override {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return false;
    if (size > 0) std::memcpy(out, bytes_.data() + offset, size);
    return true;
  }
  [[nodiscard]] uint64_t size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

template <class T>
bool ReadStruct(const ElfSource& source, uint64_t offset, T* out) {
  return source.ReadAt(offset, out, sizeof(T));
}

uint32_t GnuHash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

uint32_t SysvHash(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

// Thread-local symbols have no address, undefined ones neither.
bool IsDefined(const Elf64_Sym& symbol) {
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
}

// Offsets into a string table at which `name` ends a string, ascending: where symbols of that name
// may point. Linkers share tails, so it may be the end of a longer string.
std::vector<uint64_t> FindStrings(const ElfSource& source, uint64_t table, uint64_t size,
                                  std::string_view name) {
  const std::string wanted(name);
  const std::string_view pattern(wanted.c_str(), wanted.size() + 1);  // with its final zero
  std::vector<uint64_t> found;
  std::string window;
  for (uint64_t at = 0; at < size;) {
    const size_t n = std::min<uint64_t>(size - at, std::max(kBytesPerRead, 2 * pattern.size()));
    window.resize(n);
    if (!source.ReadAt(table + at, window.data(), n)) break;
    for (size_t hit = window.find(pattern); hit != std::string::npos;
         hit = window.find(pattern, hit + 1)) {
      found.push_back(at + hit);
    }
    if (at + n == size) break;
    at += n - (pattern.size() - 1);  // a hit may lie across the border
  }
  return found;
}

}  // namespace

std::unique_ptr<ElfSource> ElfSourceFromFd(UniqueFd fd) {
  return std::make_unique<FdSource>(std::move(fd));
}
std::unique_ptr<ElfSource> ElfSourceFromBytes(std::span<const std::byte> bytes) {
  return std::make_unique<BytesSource>(bytes);
}

struct ElfFile::SectionHeader {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
};

// Offsets in the file of what PT_DYNAMIC names.
struct ElfFile::Dynamic {
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t strings_size = 0;
  uint64_t gnu_hash = 0;   // 0: none
  uint64_t sysv_hash = 0;  // 0: none
};

// A table of symbols and its strings, at offsets of the file.
class ElfFile::SymbolTable {
 public:
  SymbolTable(const ElfSource& source, uint64_t symbols, uint64_t strings, uint64_t strings_size)
      : source_(source), symbols_(symbols), strings_(strings), strings_size_(strings_size) {}

  bool Read(uint64_t index, Elf64_Sym* symbol) const {
    uint64_t distance;
    uint64_t offset;
    return !__builtin_mul_overflow(index, sizeof(Elf64_Sym), &distance) &&
           !__builtin_add_overflow(symbols_, distance, &offset) &&
           ReadStruct(source_, offset, symbol);
  }

  bool HasName(const Elf64_Sym& symbol, std::string_view name) const {
    const size_t size = name.size() + 1;
    if (symbol.st_name > strings_size_ || size > strings_size_ - symbol.st_name) return false;
    buffer_.resize(size);
    return source_.ReadAt(strings_ + symbol.st_name, buffer_.data(), size) &&
           buffer_[name.size()] == '\0' && std::string_view(buffer_.data(), name.size()) == name;
  }

 private:
  const ElfSource& source_;
  uint64_t symbols_;
  uint64_t strings_;
  uint64_t strings_size_;
  mutable std::vector<char> buffer_;
};

bool ElfFile::InFile(uint64_t offset, uint64_t size) const {
  return offset <= source_->size() && size <= source_->size() - offset;
}

Result<ElfFile> ElfFile::Open(std::unique_ptr<ElfSource> source, std::string name) {
  ElfFile file;
  file.source_ = std::move(source);
  file.name_ = std::move(name);
  LS_CHECK_OK(file.ReadHeaders());
  return file;
}

Result<ElfFile> ElfFile::OpenLoaded(std::unique_ptr<ElfSource> source, std::string name,
                                    std::span<const Mapping> mappings) {
  LS_TRY(file, Open(std::move(source), std::move(name)));
  file.section_headers_offset_ = 0;
  file.loaded_bias_ = file.LoadBias(mappings).value_or(0);
  return file;
}

Status ElfFile::ReadHeaders() {
  Elf64_Ehdr header;
  if (!ReadStruct(*source_, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Fail(ErrorCode::kUnsupported, "{} is not an ELF file", name_);
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Fail(ErrorCode::kUnsupported, "{} is not a 64-bit little-endian ELF file", name_);
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return Fail(ErrorCode::kUnsupported, "{} is neither an executable nor a shared object", name_);
  }
  fixed_addresses_ = header.e_type == ET_EXEC;
  machine_ = header.e_machine;
  section_headers_offset_ = header.e_shoff;
  section_count_ = header.e_shnum;
  section_names_index_ = header.e_shstrndx;
  if (header.e_shoff != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) section_headers_offset_ = 0;

  if (header.e_phnum == 0 || header.e_phnum == PN_XNUM ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Fail(ErrorCode::kCorrupt, "{} has no program headers of the usual size", name_);
  }
  if (header.e_phnum * sizeof(Elf64_Phdr) > kMaxProgramHeadersSize) {
    return Fail(ErrorCode::kCorrupt, "{} has {} program headers, more than Linux loads", name_,
                header.e_phnum);
  }
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (!source_->ReadAt(header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) {
    return Fail(ErrorCode::kCorrupt, "the program headers of {} lie beyond its end", name_);
  }
  for (const Elf64_Phdr& program : headers) {
    if (program.p_type == PT_LOAD) {
      segments_.push_back({program.p_vaddr, program.p_offset, program.p_filesz, program.p_memsz,
                           (program.p_flags & PF_W) != 0, (program.p_flags & PF_X) != 0});
    } else if (program.p_type == PT_DYNAMIC) {
      dynamic_offset_ = program.p_offset;
      dynamic_size_ = program.p_filesz;
    }
  }
  if (segments_.empty()) return Fail(ErrorCode::kCorrupt, "{} has no loadable segment", name_);
  return {};
}

std::optional<uint64_t> ElfFile::LoadBias(std::span<const Mapping> mappings) const {
  // The mapping of a segment starts at the page of the segment's offset, or further on where
  // mprotect has split it. One page of the file may belong to two segments, so a single pair can
  // mislead: the bias that explains most mappings wins.
  static const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto bias_of = [](const Mapping& mapping,
                          const ElfSegment& segment) -> std::optional<uint64_t> {
    const uint64_t first = segment.offset & ~(page - 1);
    const uint64_t end = segment.offset + segment.file_size;
    if (segment.file_size == 0 || mapping.offset < first || mapping.offset >= end)
      return std::nullopt;
    return mapping.start - mapping.offset + segment.offset - segment.address;
  };
  std::optional<uint64_t> best;
  size_t best_votes = 0;
  for (const Mapping& mapping : mappings) {
    for (const ElfSegment& segment : segments_) {
      const std::optional<uint64_t> bias = bias_of(mapping, segment);
      if (!bias || (fixed_addresses_ && *bias != 0)) continue;
      const auto votes =
          static_cast<size_t>(std::ranges::count_if(mappings, [&](const Mapping& other) {
            return std::ranges::any_of(
                segments_, [&](const ElfSegment& s) { return bias_of(other, s) == bias; });
          }));
      if (votes > best_votes) {
        best = bias;
        best_votes = votes;
      }
    }
  }
  return best;
}

Result<std::vector<ElfFile::SectionHeader>> ElfFile::ReadSectionHeaders() const {
  std::vector<SectionHeader> sections;
  if (section_headers_offset_ == 0) return sections;
  uint32_t count = section_count_;
  Elf64_Shdr first;
  if (count == 0) {  // 0xff00 or more sections: the number is in the first one
    if (!ReadStruct(*source_, section_headers_offset_, &first)) {
      return Fail(ErrorCode::kCorrupt, "the section headers of {} lie beyond its end", name_);
    }
    if (first.sh_size > kMaxSections) {
      return Fail(ErrorCode::kCorrupt, "{} claims to have {} sections", name_, first.sh_size);
    }
    count = static_cast<uint32_t>(first.sh_size);
  }
  if (!InFile(section_headers_offset_, uint64_t{count} * sizeof(Elf64_Shdr))) {
    return Fail(ErrorCode::kCorrupt, "the section headers of {} lie beyond its end", name_);
  }
  std::vector<Elf64_Shdr> headers(count);
  if (!source_->ReadAt(section_headers_offset_, headers.data(),
                       headers.size() * sizeof(Elf64_Shdr))) {
    return Fail(ErrorCode::kIo, "cannot read the section headers of {}", name_);
  }
  sections.reserve(count);
  for (const Elf64_Shdr& header : headers) {
    sections.push_back({header.sh_name, header.sh_type, header.sh_flags, header.sh_addr,
                        header.sh_offset, header.sh_size, header.sh_link});
  }
  return sections;
}

Result<std::string> ElfFile::SectionName(const SectionHeader& names,
                                         const SectionHeader& header) const {
  if (header.name >= names.size || !InFile(names.offset, names.size)) {
    return Fail(ErrorCode::kCorrupt, "the name of a section of {} lies outside its table", name_);
  }
  std::string name(std::min<uint64_t>(names.size - header.name, kMaxSectionName), '\0');
  if (!source_->ReadAt(names.offset + header.name, name.data(), name.size())) {
    return Fail(ErrorCode::kIo, "cannot read the section names of {}", name_);
  }
  name.resize(std::min(name.find('\0'), name.size()));
  return name;
}

Result<std::optional<ElfSection>> ElfFile::FindSection(std::string_view name) const {
  LS_TRY(sections, ReadSectionHeaders());
  if (sections.empty()) return std::nullopt;
  const uint32_t names_index =
      section_names_index_ == SHN_XINDEX ? sections[0].link : section_names_index_;
  if (names_index >= sections.size()) return std::nullopt;
  for (const SectionHeader& header : sections) {
    LS_TRY(this_name, SectionName(sections[names_index], header));
    if (this_name == name) return ElfSection{this_name, header.address, header.offset, header.size};
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfFile::OffsetOf(uint64_t address) const {
  for (const ElfSegment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      return segment.offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

Result<std::optional<ElfFile::Dynamic>> ElfFile::ReadDynamic() const {
  if (dynamic_size_ == 0) return std::nullopt;
  if (!InFile(dynamic_offset_, dynamic_size_)) {
    return Fail(ErrorCode::kCorrupt, "the dynamic segment of {} lies beyond its end", name_);
  }
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t gnu_hash = 0;
  uint64_t sysv_hash = 0;
  Dynamic dynamic;
  for (uint64_t at = 0; dynamic_size_ - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!ReadStruct(*source_, dynamic_offset_ + at, &entry)) {
      return Fail(ErrorCode::kIo, "cannot read the dynamic segment of {}", name_);
    }
    if (entry.d_tag == DT_NULL) break;
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols = entry.d_un.d_ptr;
        break;
      case DT_STRTAB:
        strings = entry.d_un.d_ptr;
        break;
      case DT_STRSZ:
        dynamic.strings_size = entry.d_un.d_val;
        break;
      case DT_GNU_HASH:
        gnu_hash = entry.d_un.d_ptr;
        break;
      case DT_HASH:
        sysv_hash = entry.d_un.d_ptr;
        break;
      default:
        break;
    }
  }
  // In memory glibc's loader replaces these addresses by those in the process; musl's does not.
  const auto offset_of = [&](uint64_t address) {
    const auto offset = OffsetOf(address);
    return offset || loaded_bias_ == 0 ? offset : OffsetOf(address - loaded_bias_);
  };
  const auto symbols_offset = offset_of(symbols);
  const auto strings_offset = offset_of(strings);
  if (!symbols_offset || !strings_offset || !InFile(*strings_offset, dynamic.strings_size))
    return std::nullopt;
  dynamic.symbols = *symbols_offset;
  dynamic.strings = *strings_offset;
  dynamic.gnu_hash = gnu_hash != 0 ? offset_of(gnu_hash).value_or(0) : 0;
  dynamic.sysv_hash = sysv_hash != 0 ? offset_of(sysv_hash).value_or(0) : 0;
  return dynamic;
}

ElfFile::MaybeSymbol ElfFile::FindByGnuHash(const Dynamic& dynamic, std::string_view name) const {
  struct {
    uint32_t buckets, first_symbol, bloom_words, bloom_shift;
  } header;
  const auto corrupt = [&] {
    return Fail(ErrorCode::kCorrupt, "the GNU hash table of {} makes no sense", name_);
  };
  if (!ReadStruct(*source_, dynamic.gnu_hash, &header)) return corrupt();
  if (header.buckets == 0) return std::nullopt;
  const uint64_t buckets = dynamic.gnu_hash + sizeof header + uint64_t{header.bloom_words} * 8;
  const uint64_t chains = buckets + uint64_t{header.buckets} * 4;
  const uint32_t hash = GnuHash(name);
  uint32_t index;
  if (!ReadStruct(*source_, buckets + uint64_t{hash % header.buckets} * 4, &index))
    return corrupt();
  if (index == 0) return std::nullopt;
  if (index < header.first_symbol) return corrupt();
  const SymbolTable table(*source_, dynamic.symbols, dynamic.strings, dynamic.strings_size);
  for (uint64_t i = index;; ++i) {  // ends with the chain, or with the file
    uint32_t entry;
    if (!ReadStruct(*source_, chains + (i - header.first_symbol) * 4, &entry)) return corrupt();
    Elf64_Sym symbol;
    if ((entry | 1) == (hash | 1) && table.Read(i, &symbol) && IsDefined(symbol) &&
        table.HasName(symbol, name)) {
      return ElfSymbol{symbol.st_value, symbol.st_size};
    }
    if ((entry & 1) != 0) return std::nullopt;
  }
}

ElfFile::MaybeSymbol ElfFile::FindBySysvHash(const Dynamic& dynamic, std::string_view name) const {
  struct {
    uint32_t buckets, chains;
  } header;
  const auto corrupt = [&] {
    return Fail(ErrorCode::kCorrupt, "the hash table of {} makes no sense", name_);
  };
  if (!ReadStruct(*source_, dynamic.sysv_hash, &header)) return corrupt();
  if (header.buckets == 0) return std::nullopt;
  const uint64_t buckets = dynamic.sysv_hash + sizeof header;
  const uint64_t chains = buckets + uint64_t{header.buckets} * 4;
  if (!InFile(chains, uint64_t{header.chains} * 4)) return corrupt();
  uint32_t index;
  if (!ReadStruct(*source_, buckets + uint64_t{SysvHash(name) % header.buckets} * 4, &index))
    return corrupt();
  const SymbolTable table(*source_, dynamic.symbols, dynamic.strings, dynamic.strings_size);
  for (uint32_t steps = 0; index != 0; ++steps) {
    Elf64_Sym symbol;
    if (index >= header.chains || steps > header.chains || !table.Read(index, &symbol))
      return corrupt();
    if (IsDefined(symbol) && table.HasName(symbol, name))
      return ElfSymbol{symbol.st_value, symbol.st_size};
    if (!ReadStruct(*source_, chains + uint64_t{index} * 4, &index)) return corrupt();
  }
  return std::nullopt;
}

ElfFile::MaybeSymbol ElfFile::FindInSections(uint32_t section_type, std::string_view name) const {
  LS_TRY(sections, ReadSectionHeaders());
  for (const SectionHeader& section : sections) {
    if (section.type != section_type || section.link >= sections.size()) continue;
    const SectionHeader& strings = sections[section.link];
    if (!InFile(section.offset, section.size) || !InFile(strings.offset, strings.size)) {
      return Fail(ErrorCode::kCorrupt, "a symbol table of {} lies beyond its end", name_);
    }
    const std::vector<uint64_t> names = FindStrings(*source_, strings.offset, strings.size, name);
    if (names.empty()) continue;
    std::vector<Elf64_Sym> symbols;
    const uint64_t count = section.size / sizeof(Elf64_Sym);
    for (uint64_t done = 0; done < count; done += symbols.size()) {
      symbols.resize(std::min<uint64_t>(count - done, kBytesPerRead / sizeof(Elf64_Sym)));
      if (!source_->ReadAt(section.offset + done * sizeof(Elf64_Sym), symbols.data(),
                           symbols.size() * sizeof(Elf64_Sym))) {
        return Fail(ErrorCode::kIo, "cannot read a symbol table of {}", name_);
      }
      for (const Elf64_Sym& symbol : symbols) {
        if (IsDefined(symbol) && std::ranges::binary_search(names, symbol.st_name)) {
          return ElfSymbol{symbol.st_value, symbol.st_size};
        }
      }
    }
  }
  return std::nullopt;
}

ElfFile::MaybeSymbol ElfFile::FindExported(std::string_view name) const {
  LS_TRY(dynamic, ReadDynamic());
  const bool hashed = dynamic && (dynamic->gnu_hash != 0 || dynamic->sysv_hash != 0);
  return !hashed                  ? FindInSections(SHT_DYNSYM, name)
         : dynamic->gnu_hash != 0 ? FindByGnuHash(*dynamic, name)
                                  : FindBySysvHash(*dynamic, name);
}

ElfFile::MaybeSymbol ElfFile::FindSymbol(std::string_view name) const {
  MaybeSymbol symbol = FindExported(name);
  if (symbol && *symbol) return symbol;
  const MaybeSymbol full = FindInSections(SHT_SYMTAB, name);
  // Where one table is broken and the other does not know the name, the break is the news.
  return !symbol && full && !*full ? symbol : full;
}

}  // namespace linescope
