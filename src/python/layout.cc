#include "python/layout.h"

#include <cstring>

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
    switch (version.minor) {
      case 11:
        return layout::kPython311;
      case 12:
        return layout::kPython312;
      case 13:
        return layout::kPython313;
    }
  }
  return Fail(ErrorCode::kUnsupported,
              "this is Python {}, and this version of LineScope reads 3.{} to 3.{}",
              version.ToString(), kOldestMinor, kNewestMinor);
}

namespace {

constexpr char kCookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};

uint64_t Word(std::span<const std::byte> bytes, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * 8, 8);
  return value;
}

// Index of each field in 3.13's `_Py_DebugOffsets`, in 8-byte words from its start.
enum Debug313 : size_t {
  kInterpretersHead = 5,
  kInterpreterSize = 6,
  kInterpreterId = 7,
  kInterpreterNext = 8,
  kThreadsHead = 9,
  kImportsModules = 11,
  kCevalGil = 14,
  kGilLocked = 17,
  kGilHolder = 18,
  kThreadPrev = 20,
  kThreadNext = 21,
  kThreadInterp = 22,
  kThreadCurrentFrame = 23,
  kThreadId = 24,
  kThreadNativeId = 25,
  kThreadChunk = 26,
  kFramePrevious = 29,
  kFrameExecutable = 30,
  kFrameInstr = 31,
  kFrameLocals = 32,
  kFrameOwner = 33,
  kCodeFile = 35,
  kCodeName = 36,
  kCodeQualname = 37,
  kCodeLinetable = 38,
  kCodeFirstLine = 39,
  kCodeBytecode = 43,
  kObjectType = 45,
  kTypeName = 47,
  kDictKeys = 57,
  kDictValues = 58,
  kBytesSize = 65,
  kBytesData = 66,
  kStrState = 68,
  kStrLength = 69,
  kStrAscii = 70,
  kDebug313Words = 73,
};
static_assert(kDebug313Words * 8 <= kDebugOffsetsBytes);

}  // namespace

std::optional<DebugOffsetsHeader> ReadDebugOffsetsHeader(std::span<const std::byte> runtime) {
  if (runtime.size() < 24 || std::memcmp(runtime.data(), kCookie, sizeof kCookie) != 0) {
    return std::nullopt;
  }
  return DebugOffsetsHeader{PythonVersion::FromHex(static_cast<uint32_t>(Word(runtime, 1))),
                            Word(runtime, 2) != 0};
}

Status ApplyDebugOffsets(std::span<const std::byte> runtime, layout::Table* table) {
  if (table->minor != 13 || runtime.size() < kDebug313Words * 8) {
    return Fail(ErrorCode::kUnsupported,
                "the interpreter's table of offsets is of an unknown form");
  }
  bool plausible = true;
  auto take = [&](size_t index, uint32_t limit, uint32_t* out) {
    const uint64_t value = Word(runtime, index);
    if (value >= limit) plausible = false;
    *out = static_cast<uint32_t>(value);
  };
  constexpr uint32_t kBig = 1 << 24, kSmall = 4096;
  take(kInterpretersHead, kBig, &table->runtime.interpreters_head);
  take(kInterpreterSize, kBig, &table->interpreter.size);
  take(kInterpreterId, kBig, &table->interpreter.id);
  take(kInterpreterNext, kBig, &table->interpreter.next);
  take(kThreadsHead, kBig, &table->interpreter.threads_head);
  take(kImportsModules, kBig, &table->interpreter.modules);
  take(kCevalGil, kBig, &table->interpreter.gil);
  take(kThreadPrev, kSmall, &table->thread.prev);
  take(kThreadNext, kSmall, &table->thread.next);
  take(kThreadInterp, kSmall, &table->thread.interpreter);
  take(kThreadCurrentFrame, kSmall, &table->thread.current_frame);
  take(kThreadId, kSmall, &table->thread.pthread_id);
  take(kThreadNativeId, kSmall, &table->thread.native_id);
  take(kThreadChunk, kSmall, &table->thread.chunk);
  table->thread.top = table->thread.chunk + 8;  // follow each other in PyThreadState
  table->thread.limit = table->thread.chunk + 16;
  take(kFramePrevious, kSmall, &table->frame.previous);
  take(kFrameExecutable, kSmall, &table->frame.code);
  take(kFrameInstr, kSmall, &table->frame.instr);
  take(kFrameLocals, kSmall, &table->frame.locals);
  take(kFrameOwner, kSmall, &table->frame.owner);
  table->frame.stacktop = table->frame.instr + 8;
  take(kCodeFile, kSmall, &table->code.file);
  take(kCodeName, kSmall, &table->code.name);
  take(kCodeQualname, kSmall, &table->code.qualname);
  take(kCodeLinetable, kSmall, &table->code.linetable);
  take(kCodeFirstLine, kSmall, &table->code.first_line);
  take(kCodeBytecode, kSmall, &table->code.bytecode);
  take(kObjectType, kSmall, &table->objects.type);
  take(kTypeName, kSmall, &table->objects.type_name);
  take(kBytesSize, kSmall, &table->objects.var_size);
  take(kBytesData, kSmall, &table->objects.bytes_data);
  take(kStrState, kSmall, &table->objects.str_state);
  take(kStrLength, kSmall, &table->objects.str_length);
  take(kStrAscii, kSmall, &table->objects.str_ascii);
  table->objects.str_compact = table->objects.str_ascii + 16;  // utf8_length, utf8
  take(kDictKeys, kSmall, &table->objects.dict_keys);
  take(kDictValues, kSmall, &table->objects.dict_values);
  // Readers fetch a frame or a code object up to `locals` or `bytecode`, a str up to its data, and
  // a thread's words from `current_frame` to `limit`: the fields must lie in there.
  auto inside = [&](uint32_t end, std::initializer_list<uint32_t> fields) {
    for (const uint32_t field : fields) plausible = plausible && field + 8 <= end;
  };
  const layout::Frame& frame = table->frame;
  inside(frame.locals, {frame.code, frame.previous, frame.instr, frame.stacktop});
  plausible = plausible && frame.owner < frame.locals;
  const layout::Code& code = table->code;
  inside(code.bytecode, {code.file, code.name, code.qualname, code.linetable, code.first_line,
                         code.nlocalsplus, code.stacksize, code.framesize, code.version,
                         code.first_traceable, table->objects.type, table->objects.var_size});
  inside(table->objects.str_ascii, {table->objects.str_length, table->objects.str_state});
  const layout::Thread& thread = table->thread;
  inside(thread.limit, {thread.current_frame, thread.native_id, thread.chunk});
  plausible =
      plausible && thread.native_id >= thread.current_frame && thread.chunk >= thread.current_frame;
  if (!plausible) {
    return Fail(ErrorCode::kCorrupt, "the interpreter's table of offsets holds impossible values");
  }
  return {};
}

}  // namespace linescope
