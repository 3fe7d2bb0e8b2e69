#include "python/layout.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace linescope {

PythonVersion PythonVersion::FromHex(uint32_t hex) {
  return {static_cast<int>(hex >> 24), static_cast<int>(hex >> 16 & 0xff),
          static_cast<int>(hex >> 8 & 0xff), hex};
}

std::string PythonVersion::ToString() const {
  std::string text = fmt::format("{}.{}.{}", major, minor, micro);
  const uint32_t level = hex >> 4 & 0xf, serial = hex & 0xf;
  if (level == 0xa) text += fmt::format("a{}", serial);
  if (level == 0xb) text += fmt::format("b{}", serial);
  if (level == 0xc) text += fmt::format("rc{}", serial);
  return text;
}

Result<layout::Table> LayoutFor(const PythonVersion& version) {
  if (version.major == 3) {
    for (const layout::Table* table : layout::kTables) {
      if (table->minor == version.minor) return *table;
    }
  }
  return Fail(ErrorCode::kUnsupported,
              "this is Python {}, and this version of LineScope reads 3.{} to 3.{}",
              version.ToString(), kOldestMinor, kNewestMinor);
}

namespace layout {
namespace {

// What lies in objects moves by `bytes`.
void EnlargeHead(uint32_t bytes, Table* table) {
  table->extra_head += bytes;
  auto move = [bytes](std::initializer_list<uint32_t*> fields) {
    for (uint32_t* field : fields) {
      if (*field != kNone) *field += bytes;
    }
  };
  Code& code = table->code;
  move({&code.flags, &code.file, &code.name, &code.qualname, &code.linetable, &code.first_line,
        &code.nlocalsplus, &code.stacksize, &code.framesize, &code.version, &code.first_traceable,
        &code.bytecode, &code.code_bytes});
  Objects& objects = table->objects;
  move({&objects.type, &objects.type_name, &objects.var_size, &objects.bytes_data,
        &objects.str_length, &objects.str_state, &objects.str_ascii, &objects.str_compact,
        &objects.dict_keys, &objects.dict_values});
  Names& names = table->names;
  move({&names.module_dict, &names.type_flags, &names.type_dict_offset, &names.type_basic_size,
        &names.type_cached_keys, &names.int_size, &names.int_digits});
  move({&table->generator.frame});
  Frame& frame = table->frame;
  if (table->liveness == Liveness::kObject) {
    move({&frame.code, &frame.previous, &frame.instr, &frame.owner, &frame.locals});
  }
}

}  // namespace

Table WithTracedReferences(Table table) {
  EnlargeHead(16, &table);
  return table;
}

Table WithFreeThreading(Table table) {
  EnlargeHead(16, &table);
  table.free_threaded = true;
  table.gil = {.holder = 16, .locked = 24, .enabled = 0};
  table.names.managed_dict = 8;
  // `interned` is a whole byte there, for the sake of atomic access (cpython/unicodeobject.h).
  if (table.minor >= 14) table.objects.str_kind_bit = 8;
  return table;
}

}  // namespace layout

layout::Table LayoutForNewer() {
  layout::Table table = *layout::kTables.back();
  table.opcodes.fill(static_cast<uint8_t>(OpcodeKind::kOpaque) << 4);
  return table;
}

namespace {

constexpr char kCookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};

uint64_t Word(std::span<const std::byte> bytes, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * 8, 8);
  return value;
}

// Where each struct's fields begin in `_Py_DebugOffsets`, in 8-byte words from its start. The first
// word of a struct is its size. Later versions put fields behind those that a struct had, or a
// struct between others.
struct DebugWords {
  size_t runtime, interpreter, thread, frame, code, object, type, dict, bytes, str, gc, generator;
  size_t words;  // of all
  // Fields whose place within their struct differs.
  size_t interpreter_gil, thread_native_id, thread_chunk, base_frame, gil_requested;
};
constexpr size_t kNoWord = 0;
constexpr DebugWords kDebug313 = {.runtime = 3,
                                  .interpreter = 6,
                                  .thread = 19,
                                  .frame = 28,
                                  .code = 34,
                                  .object = 44,
                                  .type = 46,
                                  .dict = 56,
                                  .bytes = 64,
                                  .str = 67,
                                  .gc = 71,
                                  .generator = kNoWord,
                                  .words = 73,
                                  .interpreter_gil = 14,
                                  .thread_native_id = 25,
                                  .thread_chunk = 26,
                                  .base_frame = kNoWord,
                                  .gil_requested = kNoWord};
constexpr DebugWords kDebug314 = {.runtime = 3,
                                  .interpreter = 6,
                                  .thread = 22,
                                  .frame = 31,
                                  .code = 39,
                                  .object = 50,
                                  .type = 52,
                                  .dict = 66,
                                  .bytes = 74,
                                  .str = 77,
                                  .gc = 81,
                                  .generator = 83,
                                  .words = 95,
                                  .interpreter_gil = 15,
                                  .thread_native_id = 28,
                                  .thread_chunk = 29,
                                  .base_frame = kNoWord,
                                  .gil_requested = kNoWord};
constexpr DebugWords kDebug315 = {.runtime = 3,
                                  .interpreter = 6,
                                  .thread = 22,
                                  .frame = 39,
                                  .code = 47,
                                  .object = 58,
                                  .type = 60,
                                  .dict = 78,
                                  .bytes = 86,
                                  .str = 89,
                                  .gc = 94,
                                  .generator = 99,
                                  .words = 111,
                                  .interpreter_gil = 15,
                                  .thread_native_id = 31,
                                  .thread_chunk = 32,
                                  .base_frame = 27,
                                  .gil_requested = 35};
static_assert(kDebug315.words * 8 <= kDebugOffsetsBytes);

const DebugWords* DebugWordsOf(int minor) {
  switch (minor) {
    case 13:
      return &kDebug313;
    case 14:
      return &kDebug314;
    case 15:
      return &kDebug315;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<DebugOffsetsHeader> ReadDebugOffsetsHeader(std::span<const std::byte> runtime) {
  if (runtime.size() < 24 || std::memcmp(runtime.data(), kCookie, sizeof kCookie) != 0) {
    return std::nullopt;
  }
  return DebugOffsetsHeader{PythonVersion::FromHex(static_cast<uint32_t>(Word(runtime, 1))),
                            Word(runtime, 2) != 0};
}

Status ApplyDebugOffsets(std::span<const std::byte> runtime, layout::Table* table) {
  const DebugWords* at = DebugWordsOf(table->minor);
  if (at == nullptr || runtime.size() < at->words * 8) {
    return Fail(ErrorCode::kUnsupported,
                "the interpreter's table of offsets is of an unknown form");
  }
  if (Word(runtime, 2) != 0 && !table->free_threaded) *table = layout::WithFreeThreading(*table);
  bool plausible = true;
  constexpr uint64_t kLargest = 1 << 24;
  // The field at word `index` of a struct whose size is at word `size`.
  auto take = [&](size_t size, size_t index, uint32_t* out) {
    const uint64_t value = Word(runtime, index);
    if (value >= kLargest || value >= Word(runtime, size)) plausible = false;
    *out = static_cast<uint32_t>(value);
  };
  auto runtime_field = [&](size_t i, uint32_t* out) { take(at->runtime, at->runtime + i, out); };
  runtime_field(2, &table->runtime.interpreters_head);

  layout::Interpreter& interpreter = table->interpreter;
  auto interpreter_field = [&](size_t i, uint32_t* out) {
    take(at->interpreter, at->interpreter + i, out);
  };
  interpreter.size = static_cast<uint32_t>(Word(runtime, at->interpreter));
  interpreter_field(1, &interpreter.id);
  interpreter_field(2, &interpreter.next);
  interpreter_field(3, &interpreter.threads_head);
  const size_t threads_main = table->minor >= 14 ? 1 : 0;  // a field more before what follows
  interpreter_field(5 + threads_main, &interpreter.modules);
  interpreter_field(6 + threads_main, &interpreter.sysdict);
  take(at->interpreter, at->interpreter_gil, &interpreter.gil);
  // Those of the interpreter's own GIL: where it lies in there, and its fields.
  uint32_t own_gil = 0, locked = 0, holder = 0;
  take(at->interpreter, at->interpreter_gil + 1, &own_gil);
  take(at->interpreter, at->interpreter_gil + 3, &locked);
  take(at->interpreter, at->interpreter_gil + 4, &holder);
  plausible = plausible && locked >= own_gil && holder >= own_gil;
  table->gil.locked = locked - own_gil;
  table->gil.holder = holder - own_gil;
  if (table->free_threaded) {
    take(at->interpreter, at->interpreter_gil + 2, &table->gil.enabled);
  }
  uint32_t gc = 0, collecting = 0;
  interpreter_field(4 + threads_main, &gc);
  take(at->gc, at->gc + 1, &collecting);
  interpreter.gc_collecting = gc + collecting;

  layout::Thread& thread = table->thread;
  auto thread_field = [&](size_t index, uint32_t* out) { take(at->thread, index, out); };
  thread_field(at->thread + 1, &thread.prev);
  thread_field(at->thread + 2, &thread.next);
  thread_field(at->thread + 3, &thread.interpreter);
  thread_field(at->thread + 4, &thread.current_frame);
  if (at->base_frame != kNoWord) thread_field(at->base_frame, &thread.base_frame);
  thread_field(at->thread_native_id - 1, &thread.pthread_id);
  thread_field(at->thread_native_id, &thread.native_id);
  thread.identity = thread.native_id;
  thread_field(at->thread_chunk, &thread.chunk);
  thread_field(at->thread_chunk + 1, &thread.status);
  if (at->gil_requested != kNoWord) thread_field(at->gil_requested, &thread.gil_requested);
  thread.top = thread.chunk + 8;  // follow each other in PyThreadState
  thread.limit = thread.chunk + 16;

  layout::Frame& frame = table->frame;
  auto frame_field = [&](size_t i, uint32_t* out) { take(at->frame, at->frame + i, out); };
  frame_field(1, &frame.previous);
  frame_field(2, &frame.code);
  frame_field(3, &frame.instr);
  frame_field(4, &frame.locals);
  frame_field(5, &frame.owner);
  if (table->minor >= 14) {
    frame_field(6, &frame.stacktop);
  } else {
    frame.stacktop = frame.instr + 8;
  }

  layout::Code& code = table->code;
  auto code_field = [&](size_t i, uint32_t* out) { take(at->code, at->code + i, out); };
  code_field(1, &code.file);
  code_field(2, &code.name);
  code_field(3, &code.qualname);
  code_field(4, &code.linetable);
  code_field(5, &code.first_line);
  code_field(9, &code.bytecode);
  if (table->free_threaded && table->minor >= 14) {
    frame_field(7, &frame.copy);
    code_field(10, &code.copies);
    plausible = plausible && frame.copy + 4 <= frame.locals && code.copies + 8 <= code.bytecode;
  }
  table->frame_specials_words = frame.locals / 8;

  layout::Objects& objects = table->objects;
  take(at->object, at->object + 1, &objects.type);
  take(at->type, at->type + 1, &objects.type_name);
  take(at->dict, at->dict + 1, &objects.dict_keys);
  take(at->dict, at->dict + 2, &objects.dict_values);
  take(at->bytes, at->bytes + 1, &objects.var_size);
  take(at->bytes, at->bytes + 2, &objects.bytes_data);
  take(at->str, at->str + 1, &objects.str_state);
  take(at->str, at->str + 2, &objects.str_length);
  // The size of the shorter header, which is where its characters begin.
  objects.str_ascii =
      static_cast<uint32_t>(std::min<uint64_t>(Word(runtime, at->str + 3), kLargest));
  objects.str_compact = objects.str_ascii + 16;  // utf8_length, utf8
  if (at->generator != kNoWord) {
    take(at->generator, at->generator + 2, &table->generator.frame);
  }

  // Readers fetch a frame or a code object up to `locals` or `bytecode`, a str up to its data, and
  // a thread's words from `current_frame` to `limit`: the fields must lie in there, and be of a
  // size that is read as a whole.
  constexpr uint32_t kSmall = 4096;
  auto inside = [&](uint32_t end, std::initializer_list<uint32_t> fields) {
    plausible = plausible && end <= kSmall;
    for (const uint32_t field : fields) plausible = plausible && field + 8 <= end;
  };
  inside(frame.locals, {frame.code, frame.previous, frame.instr, frame.stacktop});
  plausible = plausible && frame.owner < frame.locals;
  inside(code.bytecode, {code.file, code.name, code.qualname, code.linetable, code.first_line,
                         code.nlocalsplus, code.stacksize, code.framesize, code.version,
                         code.first_traceable, objects.type, objects.var_size});
  inside(objects.str_ascii, {objects.str_length, objects.str_state});
  inside(thread.limit, {thread.current_frame, thread.native_id, thread.chunk});
  inside(kSmall, {thread.prev, thread.next, thread.interpreter, thread.pthread_id,
                  objects.type_name, objects.dict_keys, objects.dict_values, objects.bytes_data});
  plausible =
      plausible && thread.native_id >= thread.current_frame && thread.chunk >= thread.current_frame;
  plausible =
      plausible && thread.status < thread.current_frame &&
      (thread.gil_requested == layout::kNone ||
       (thread.gil_requested > thread.status && thread.gil_requested < thread.current_frame));
  if (!plausible) {
    return Fail(ErrorCode::kCorrupt, "the interpreter's table of offsets holds impossible values");
  }
  return {};
}

}  // namespace linescope
