#include "native/code_map.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace linescope {
namespace {

// Of one process: 16 MiB. Where more code is unwound, all is read anew.
constexpr size_t kMaxPages = 4096;
constexpr uint64_t kMaxImage = 256 << 20;
constexpr size_t kMaxProgramHeaders = 256;
// Encodings of pointers (Linux Standard Base, 10.5.1).
constexpr uint8_t kPcRelative = 0x10, kDataRelative = 0x30, kSigned4 = 0x0b, kUnsigned4 = 0x03;

// `header` is where .eh_frame_hdr lies. Linkers have only ever written this one form.
UnwindTable ReadUnwindTable(RemoteMemory* memory, Address header, uint64_t size) {
  struct {
    uint8_t version, pointer, count, table;
    int32_t frames;
    uint32_t entries;
  } head;
  static_assert(sizeof head == 12);
  if (size < sizeof head || !memory->ReadValue(header, &head) || head.version != 1 ||
      head.pointer != (kPcRelative | kSigned4) || head.count != kUnsigned4 ||
      head.table != (kDataRelative | kSigned4)) {
    return {};
  }
  const uint64_t fits = (size - sizeof head) / 8;
  return {.header = header,
          .entries = header + sizeof head,
          .count = std::min<uint64_t>(head.entries, fits)};
}

}  // namespace

std::optional<ElfImage> ReadElfImage(RemoteMemory* memory, Address begin) {
  Elf64_Ehdr header;
  if (!memory->ReadValue(begin, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phnum > kMaxProgramHeaders) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> programs(header.e_phnum);
  if (!memory->ReadExact(begin + header.e_phoff, programs.data(),
                         programs.size() * sizeof(Elf64_Phdr))) {
    return std::nullopt;
  }
  ElfImage image;
  const Elf64_Phdr* first = nullptr;
  const Elf64_Phdr* unwind = nullptr;
  for (const Elf64_Phdr& program : programs) {
    if (program.p_type == PT_LOAD) {
      if (first == nullptr) first = &program;
      uint64_t end = 0;
      if (__builtin_add_overflow(program.p_offset, program.p_filesz, &end)) return std::nullopt;
      image.file_bytes = std::max(image.file_bytes, end);
      image.segments.push_back({program.p_vaddr, program.p_offset, program.p_filesz});
    } else if (program.p_type == PT_GNU_EH_FRAME) {
      unwind = &program;
    }
  }
  // The first page of the file is the first one mapped.
  if (first == nullptr || first->p_offset >= 4096) return std::nullopt;
  image.bias = begin - (first->p_vaddr - first->p_offset);
  if (unwind != nullptr) {
    image.unwind = ReadUnwindTable(memory, unwind->p_vaddr + image.bias, unwind->p_memsz);
  }
  return image;
}

UniqueFd CopyElfImage(RemoteMemory* memory, const CodeModule& module) {
  const auto image = ReadElfImage(memory, module.begin);
  if (!image || image->file_bytes > kMaxImage) return {};
  UniqueFd file(::memfd_create("code", MFD_CLOEXEC));
  if (!file) return {};
  std::vector<std::byte> bytes;
  // The vdso is mapped whole, section headers included.
  const bool whole = module.file.mappings.size() == 1 && image->segments.size() == 1;
  const uint64_t file_bytes = whole ? module.end - module.begin : image->file_bytes;
  for (const ElfImage::Segment& segment : image->segments) {
    bytes.resize(whole ? file_bytes : segment.file_size);
    if (bytes.empty()) continue;
    const RemoteRange range{segment.address + image->bias, bytes.size()};
    const ssize_t got = memory->Read({&range, 1}, bytes.data());
    if (got <= 0) continue;
    if (segment.offset == 0 && bytes.size() >= sizeof(Elf64_Ehdr)) {
      // The section headers are not in memory as a rule.
      Elf64_Ehdr header;
      std::memcpy(&header, bytes.data(), sizeof header);
      const uint64_t size = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
      if (header.e_shoff > file_bytes || size > file_bytes - header.e_shoff) {
        header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
        std::memcpy(bytes.data(), &header, sizeof header);
      }
    }
    if (::pwrite(file.get(), bytes.data(), static_cast<size_t>(got),
                 static_cast<off_t>(segment.offset)) != got) {
      return {};
    }
  }
  return file;
}

bool CodeMap::Refresh() {
  auto mappings = ReadMaps(pid_);
  return mappings && Use(std::move(*mappings));
}

bool CodeMap::Use(std::vector<Mapping> mappings) {
  mappings_ = std::move(mappings);
  std::vector<Module> files = GroupModules(mappings_);
  for (const Mapping& mapping : mappings_) {
    if (mapping.path == "[vdso]") files.push_back({.path = mapping.path, .mappings = {mapping}});
  }
  std::erase_if(files, [](const Module& file) { return !file.has_code(); });
  std::ranges::sort(files, {}, &Module::base);
  const bool same = std::ranges::equal(
      files, modules_, [](const Module& file, const std::unique_ptr<CodeModule>& known) {
        return file.base() == known->file.base() && file.end() == known->file.end() &&
               file.inode() == known->file.inode() && file.path == known->file.path;
      });
  if (same) return false;
  ++generation_;
  modules_.clear();
  code_.clear();
  constant_.clear();
  variable_.clear();
  pages_.clear();
  last_page_ = 1;
  for (Module& file : files) {
    auto module = std::make_unique<CodeModule>();
    module->number = modules_.size();
    module->file = std::move(file);
    const Module& mapped = module->file;
    module->begin = mapped.base();
    module->end = mapped.end();
    if (mapped.mappings.front().offset == 0) {
      if (const auto image = ReadElfImage(memory_, mapped.base())) {
        module->bias = image->bias;
        module->unwind = image->unwind;
      }
    }
    for (const Mapping& mapping : mapped.mappings) {
      const Range range{mapping.start, mapping.end, modules_.size()};
      if (mapping.executable) code_.push_back(range);
      if (mapping.readable) (mapping.writable ? variable_ : constant_).push_back(range);
    }
    modules_.push_back(std::move(module));
  }
  std::ranges::sort(code_, {}, &Range::begin);
  std::ranges::sort(constant_, {}, &Range::begin);
  std::ranges::sort(variable_, {}, &Range::begin);
  return true;
}

const CodeModule* CodeMap::Find(Address address) const {
  auto range = std::ranges::upper_bound(code_, address, {}, &Range::begin);
  if (range == code_.begin()) return nullptr;
  --range;
  return address < range->end ? modules_[range->module].get() : nullptr;
}

std::vector<const CodeModule*> CodeMap::modules() const {
  std::vector<const CodeModule*> modules;
  for (const auto& module : modules_) modules.push_back(module.get());
  return modules;
}

Address CodeMap::StackEnd(Address stack) const {
  auto mapping = std::ranges::upper_bound(mappings_, stack, {}, &Mapping::start);
  if (mapping == mappings_.begin()) return 0;
  --mapping;
  return mapping->Contains(stack) && mapping->writable ? mapping->end : 0;
}

const std::byte* CodeMap::PageAt(Address address) {
  if (address == last_page_) return last_bytes_;
  auto known = pages_.find(address);
  if (known == pages_.end()) {
    auto range = std::ranges::upper_bound(constant_, address, {}, &Range::begin);
    if (range == constant_.begin() || address >= (--range)->end) return nullptr;
    auto page = std::make_unique<Page>();
    if (!memory_->ReadExact(address, page->data(), kPage)) return nullptr;
    if (pages_.size() >= kMaxPages) pages_.clear();
    known = pages_.emplace(address, std::move(page)).first;
  }
  last_page_ = address;
  return last_bytes_ = known->second->data();
}

bool CodeMap::ReadConstant(Address address, void* out, size_t size) {
  auto* cursor = static_cast<std::byte*>(out);
  while (size > 0) {
    const size_t offset = address % kPage;
    const std::byte* page = PageAt(address - offset);
    if (page == nullptr) return false;
    const size_t part = std::min(size, kPage - offset);
    std::memcpy(cursor, page + offset, part);
    cursor += part;
    address += part;
    size -= part;
  }
  return true;
}

bool CodeMap::ReadVariable(Address address, void* out, size_t size) {
  auto range = std::ranges::upper_bound(variable_, address, {}, &Range::begin);
  if (range == variable_.begin()) return false;
  --range;
  return address < range->end && size <= range->end - address &&
         memory_->ReadExact(address, out, size);
}

}  // namespace linescope
