#pragma once
// Small ELF files made in memory, with just the parts a test is about.
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace linescope {

struct ElfSpec {
  uint16_t type = ET_DYN;
  bool gnu_hash = true;
  bool sysv_hash = false;
  bool section_headers = true;
  // Name → address. An address of 0 makes an undefined symbol.
  std::vector<std::pair<std::string, uint64_t>> dynamic_symbols = {};
  std::vector<std::pair<std::string, uint64_t>> symbols = {};  // .symtab, only with section headers
  std::vector<std::pair<std::string, uint64_t>> sections =
      {};                            // further sections, at these addresses
  uint64_t text_address = 0x400000;  // the file's first segment
};

inline std::string BuildElf(const ElfSpec& spec) {
  std::string file(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), '\0');
  const auto append = [&](const void* data, size_t size) {
    file.resize((file.size() + 7) / 8 * 8);
    const uint64_t offset = file.size();
    file.append(static_cast<const char*>(data), size);
    return offset;
  };
  const auto make_table = [](const auto& names, std::string* strings,
                             std::vector<Elf64_Sym>* table) {
    *strings = std::string(1, '\0');
    table->push_back({});
    for (const auto& [name, address] : names) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<Elf64_Word>(strings->size());
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      symbol.st_shndx = address == 0 ? SHN_UNDEF : 1;
      symbol.st_value = address;
      symbol.st_size = 8;
      *strings += name + '\0';
      table->push_back(symbol);
    }
  };
  std::string dynamic_strings;
  std::vector<Elf64_Sym> dynamic_symbols;
  make_table(spec.dynamic_symbols, &dynamic_strings, &dynamic_symbols);
  const uint64_t dynstr = append(dynamic_strings.data(), dynamic_strings.size());
  const uint64_t dynsym =
      append(dynamic_symbols.data(), dynamic_symbols.size() * sizeof(Elf64_Sym));

  std::vector<Elf64_Dyn> dynamic;
  const auto add = [&](Elf64_Sxword tag, uint64_t value) { dynamic.push_back({tag, {value}}); };
  add(DT_SYMTAB, spec.text_address + dynsym);
  add(DT_STRTAB, spec.text_address + dynstr);
  add(DT_STRSZ, dynamic_strings.size());
  const auto count = static_cast<uint32_t>(dynamic_symbols.size());
  if (spec.gnu_hash) {  // one bucket, one chain with everything, a Bloom filter that lets all pass
    std::vector<uint32_t> table = {1, 1, 1, 0, ~0U, ~0U, count > 1 ? 1U : 0U};
    for (uint32_t i = 1; i < count; ++i) {
      uint32_t hash = 5381;
      for (const char c : spec.dynamic_symbols[i - 1].first)
        hash = hash * 33 + static_cast<unsigned char>(c);
      table.push_back((hash & ~1U) | (i + 1 == count ? 1U : 0U));
    }
    add(DT_GNU_HASH, spec.text_address + append(table.data(), table.size() * 4));
  }
  if (spec.sysv_hash) {
    std::vector<uint32_t> table = {1, count, count > 1 ? 1U : 0U, 0};
    for (uint32_t i = 1; i < count; ++i) table.push_back(i + 1 == count ? 0 : i + 1);
    add(DT_HASH, spec.text_address + append(table.data(), table.size() * 4));
  }
  add(DT_NULL, 0);
  const uint64_t dynamic_offset = append(dynamic.data(), dynamic.size() * sizeof(Elf64_Dyn));

  uint64_t headers_offset = 0;
  std::vector<Elf64_Shdr> headers(1);
  uint16_t names_index = 0;
  if (spec.section_headers) {
    std::string names(1, '\0');
    const auto section = [&](const std::string& name, uint32_t type, uint64_t address,
                             uint64_t offset, uint64_t size, uint32_t link) {
      Elf64_Shdr header{};
      header.sh_name = static_cast<Elf64_Word>(names.size());
      header.sh_type = type;
      header.sh_addr = address;
      header.sh_offset = offset;
      header.sh_size = size;
      header.sh_link = link;
      names += name + '\0';
      headers.push_back(header);
    };
    section(".dynstr", SHT_STRTAB, spec.text_address + dynstr, dynstr, dynamic_strings.size(), 0);
    section(".dynsym", SHT_DYNSYM, spec.text_address + dynsym, dynsym,
            dynamic_symbols.size() * sizeof(Elf64_Sym), 1);
    for (const auto& [name, address] : spec.sections)
      section(name, SHT_PROGBITS, address, 64, 16, 0);
    if (!spec.symbols.empty()) {
      std::string strings;
      std::vector<Elf64_Sym> symbols;
      make_table(spec.symbols, &strings, &symbols);
      const uint64_t strtab = append(strings.data(), strings.size());
      const uint64_t symtab = append(symbols.data(), symbols.size() * sizeof(Elf64_Sym));
      section(".strtab", SHT_STRTAB, 0, strtab, strings.size(), 0);
      section(".symtab", SHT_SYMTAB, 0, symtab, symbols.size() * sizeof(Elf64_Sym),
              static_cast<uint32_t>(headers.size() - 1));
    }
    names_index = static_cast<uint16_t>(headers.size());
    section(".shstrtab", SHT_STRTAB, 0, 0, 0, 0);
    headers.back().sh_size = names.size();
    headers.back().sh_offset = append(names.data(), names.size());
    headers_offset = append(headers.data(), headers.size() * sizeof(Elf64_Shdr));
  }

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = spec.type;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shoff = headers_offset;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = headers_offset == 0 ? 0 : static_cast<uint16_t>(headers.size());
  header.e_shstrndx = names_index;
  Elf64_Phdr programs[2] = {};
  programs[0].p_type = PT_LOAD;
  programs[0].p_flags = PF_R | PF_X;
  programs[0].p_vaddr = spec.text_address;
  programs[0].p_filesz = programs[0].p_memsz = file.size();
  programs[1].p_type = PT_DYNAMIC;
  programs[1].p_offset = dynamic_offset;
  programs[1].p_vaddr = spec.text_address + dynamic_offset;
  programs[1].p_filesz = programs[1].p_memsz = dynamic.size() * sizeof(Elf64_Dyn);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, programs, sizeof programs);
  return file;
}

}  // namespace linescope
