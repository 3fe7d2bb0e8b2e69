#pragma once
// An interpreter's data made up in FakeMemory, by the layout of a version: objects, code, frames,
// chunks and a thread.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "process/fake_memory.h"
#include "python/layout.h"

namespace linescope {

// Free-threaded builds, as their own tables of offsets have it (offsetof of 3.13.5, 3.14.3 and
// 3.15.2 with Py_GIL_DISABLED).
inline layout::Table FreeThreaded(const layout::Table& usual) {
  layout::Table table = layout::WithFreeThreading(usual);
  if (table.minor >= 14) {
    table.frame.copy = 72;
    table.frame.owner = 78;
    table.code.copies = 224;
    table.code.bytecode = 232;
  }
  return table;
}
inline const layout::Table kFree313 = FreeThreaded(layout::kPython313),
                           kFree314 = FreeThreaded(layout::kPython314),
                           kFree315 = FreeThreaded(layout::kPython315);
inline const layout::Table kTraced39 = WithTracedReferences(layout::kPython39),
                           kTraced311 = WithTracedReferences(layout::kPython311),
                           kTraced312 = WithTracedReferences(layout::kPython312);

// Of every version, and of every kind of build whose objects lie otherwise.
inline auto EachTable() {
  std::vector<const layout::Table*> tables(layout::kTables.begin(), layout::kTables.end());
  tables.insert(tables.end(),
                {&kFree313, &kFree314, &kFree315, &kTraced39, &kTraced311, &kTraced312});
  return ::testing::ValuesIn(tables);
}
// Those whose frames lie on a data stack.
inline auto EachDataStackTable() {
  return ::testing::Values(&layout::kPython311, &layout::kPython312, &layout::kPython313,
                           &layout::kPython314, &layout::kPython315, &kFree313, &kFree314,
                           &kFree315, &kTraced311, &kTraced312);
}
inline std::string TableName(const ::testing::TestParamInfo<const layout::Table*>& info) {
  return "Python3" + std::to_string(info.param->minor) +
         (info.param->free_threaded     ? "FreeThreaded"
          : info.param->extra_head != 0 ? "TracedReferences"
                                        : "");
}

class FakePython {
 public:
  explicit FakePython(const layout::Table* table) : table_(table) {}

  FakeMemory& memory() { return memory_; }
  [[nodiscard]] const layout::Table& table() const { return *table_; }

  // Zeroed memory of the target, aligned to 16, with unmapped memory behind it.
  Address Allocate(size_t size) {
    const Address at = next_;
    next_ += (size + 64 + 15) & ~size_t{15};
    memory_.Zero(at, size);
    return at;
  }

  Address Characters(const std::u32string& text, unsigned kind) {
    const layout::Objects& at = table_->objects;
    const Address str = Allocate(at.str_compact + text.size() * kind);
    memory_.Put(str + at.str_length, uint64_t{text.size()});
    memory_.Put(str + at.str_state, (kCompact | kind) << at.str_kind_bit);
    for (size_t i = 0; i < text.size(); ++i) {
      const uint32_t c = text[i];
      memory_.Write(str + at.str_compact + i * kind, std::as_bytes(std::span(&c, 1)).first(kind));
    }
    return str;
  }
  Address Text(std::u8string_view utf8, unsigned kind) {
    std::u32string text;
    for (size_t i = 0; i < utf8.size();) {
      const auto lead = static_cast<uint8_t>(utf8[i]);
      const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      uint32_t c = length == 1 ? lead : lead & (0x7fu >> length);
      for (size_t k = 1; k < length; ++k) c = c << 6 | (static_cast<uint8_t>(utf8[i + k]) & 0x3f);
      text.push_back(c);
      i += length;
    }
    return Characters(text, kind);
  }
  Address Ascii(std::string_view text) {
    const layout::Objects& at = table_->objects;
    const Address str = Allocate(at.str_ascii + text.size());
    memory_.Put(str + at.str_length, uint64_t{text.size()});
    memory_.Put(str + at.str_state, (kAscii | kCompact | 1) << at.str_kind_bit);
    memory_.Write(str + at.str_ascii, text);
    return str;
  }
  Address Bytes(const std::vector<uint8_t>& bytes) {
    const layout::Objects& at = table_->objects;
    const Address object = Allocate(at.bytes_data + bytes.size());
    memory_.Put(object + at.var_size, uint64_t{bytes.size()});
    memory_.Write(object + at.bytes_data, std::as_bytes(std::span(bytes)));
    return object;
  }
  Address Type(std::string_view name) {
    const Address text = Allocate(name.size() + 256), type = Allocate(1024);
    memory_.Write(text, name);
    memory_.Put(type + table_->objects.type_name, text);
    return type;
  }
  Address Object(std::string_view type) {
    const Address object = Allocate(64);
    memory_.Put(object + table_->objects.type, Type(type));
    return object;
  }

  // A code object. `opcodes`: one a unit. Every unit is a line further than the one before, the
  // first one on `first_line`.
  struct CodeSpec {
    std::string name = "f", file = "/f.py";
    int32_t first_line = 10;
    std::vector<uint8_t> opcodes = std::vector<uint8_t>(8, 0);
    int32_t nlocalsplus = 2, stacksize = 3;
    uint32_t version = 0;
  };
  Address Code(const CodeSpec& spec) { return CodeAt(0, spec); }
  Address CodeAt(Address address, const CodeSpec& spec) {
    const layout::Code& at = table_->code;
    if (code_type_ == 0) code_type_ = Type("code");
    const bool inline_code = at.code_bytes == layout::kNone;
    const size_t size = at.bytecode + (inline_code ? spec.opcodes.size() * 2 : 0);
    if (address == 0) address = Allocate(size + 64);
    memory_.Zero(address, size);
    memory_.Put(address + table_->objects.type, code_type_);
    memory_.Put(address + at.first_line, spec.first_line);
    memory_.Put(address + at.stacksize, spec.stacksize);
    memory_.Put(address + at.flags, uint32_t{1});  // CO_OPTIMIZED: a function's
    if (at.framesize != layout::kNone) {
      memory_.Put(address + at.framesize, static_cast<int32_t>(FrameWords(spec)));
      memory_.Put(address + at.version, spec.version);
    }
    memory_.Put(address + at.file, Ascii(spec.file));
    memory_.Put(address + at.name, Ascii(spec.name));
    std::vector<uint8_t> code(spec.opcodes.size() * 2);
    for (size_t i = 0; i < spec.opcodes.size(); ++i) code[i * 2] = spec.opcodes[i];
    if (inline_code) {
      memory_.Put(address + table_->objects.var_size, uint64_t{spec.opcodes.size()});
      memory_.Put(address + at.nlocalsplus, spec.nlocalsplus);
      memory_.Put(address + at.qualname, Ascii(spec.name));
      memory_.Write(address + at.bytecode, std::as_bytes(std::span(code)));
    } else {
      memory_.Put(address + at.code_bytes, Bytes(code));
    }
    memory_.Put(address + at.linetable, Bytes(LineTable(spec.opcodes.size())));
    return address;
  }
  // The first unit on the first line, each further one a line on.
  [[nodiscard]] std::vector<uint8_t> LineTable(size_t units) const {
    std::vector<uint8_t> lines;
    for (size_t i = 0; i < units; ++i) {
      const auto delta = static_cast<uint8_t>(i == 0 ? 0 : 1);
      switch (table_->lines) {
        case layout::Lines::kLocations:  // two column bytes
          lines.insert(lines.end(), {static_cast<uint8_t>(0x80 | (10 + delta) << 3), 0, 0});
          break;
        case layout::Lines::kRanges:
          lines.insert(lines.end(), {2, delta});
          break;
        case layout::Lines::kDeltas:
          lines.insert(lines.end(), {2, 1});
          break;
      }
    }
    return lines;
  }
  [[nodiscard]] size_t FrameWords(const CodeSpec& spec) const {
    return static_cast<size_t>(spec.nlocalsplus + spec.stacksize) + table_->frame_specials_words;
  }
  // The first opcode of a kind.
  [[nodiscard]] uint8_t Opcode(OpcodeKind kind) const {
    for (size_t i = 0; i < 256; ++i) {
      if (table_->opcodes[i] == static_cast<uint8_t>(kind) << 4) return static_cast<uint8_t>(i);
    }
    for (size_t i = 0; i < 256; ++i) {  // none without caches
      if (table_->opcodes[i] >> 4 == static_cast<uint8_t>(kind)) return static_cast<uint8_t>(i);
    }
    ADD_FAILURE() << "no opcode of kind " << static_cast<int>(kind);
    return 0;
  }

 private:
  static constexpr uint32_t kCompact = 8, kAscii = 16;  // above the three bits of the kind
  const layout::Table* table_;
  FakeMemory memory_;
  Address next_ = 0x10'0000;
  Address code_type_ = 0;
};

}  // namespace linescope
