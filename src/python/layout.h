#pragma once
// Where the interpreter keeps what the sampler reads, per CPython version. All offsets are bytes.
// Readers name a field of this table, never an offset. From 3.13 on the runtime carries its own
// table (`_Py_DebugOffsets`, Include/internal/pycore_runtime.h); ApplyDebugOffsets overlays it.
// Before, the numbers come from the headers of that version (offsetof on x86-64 and aarch64 are
// equal).
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace linescope {

struct PythonVersion {
  int major = 0, minor = 0, micro = 0;
  uint32_t hex = 0;                            // PY_VERSION_HEX
  [[nodiscard]] std::string ToString() const;  // "3.13.0", "3.14.0rc1"
  static PythonVersion FromHex(uint32_t hex);
};

enum class OpcodeKind : uint8_t {
  kOther = 0,
  kPush = 1,     // may push a Python frame inline: calls, properties, __getitem__
  kIterate = 2,  // FOR_ITER, SEND: may push a generator's own frame
  kReturn = 3,   // the frame is about to be popped: RETURN_*, INTERPRETER_EXIT
  kOpaque = 4,   // hides the original opcode: instrumented lines, executors
};

namespace layout {

inline constexpr uint32_t kNone = UINT32_MAX;  // the version has no such field

struct Runtime {
  uint32_t interpreters_head;
  uint32_t gil_holder,
      gil_locked;  // <= 3.11: in the runtime; from 3.12 kNone, see Interpreter::gil
};
struct Interpreter {
  uint32_t id, next, threads_head, modules, gc_collecting;
  uint32_t gil;   // 3.12+: pointer to struct _gil_runtime_state
  uint32_t size;  // an upper bound; 0 when unknown
};
struct Gil {  // 3.12+, inside struct _gil_runtime_state
  uint32_t holder, locked;
};
struct Thread {
  uint32_t prev, next, interpreter, pthread_id, native_id;
  uint32_t current_frame;      // 3.13+; before: the pointer to the C frame record (`cframe`)
  uint32_t cframe_frame;       // offset of current_frame in _PyCFrame; kNone from 3.13 on
  uint32_t chunk, top, limit;  // data stack
};
struct Frame {
  uint32_t code, previous, instr, stacktop, owner;
  uint32_t is_entry;  // 3.11 only
  uint32_t locals;    // localsplus: the end of the header
};
struct Generator {
  uint32_t frame;  // gi_iframe, the frame inside the generator object
};
struct Code {
  uint32_t flags;  // co_flags
  uint32_t file, name, qualname, linetable, first_line, nlocalsplus, stacksize;
  uint32_t framesize;  // 3.12+, in words
  uint32_t version;    // 3.12+
  uint32_t first_traceable;
  uint32_t bytecode;  // co_code_adaptive: end of the header
};
struct Objects {
  uint32_t type;       // ob_type
  uint32_t type_name;  // tp_name
  uint32_t var_size;   // ob_size; in code objects: number of code units
  uint32_t bytes_data;
  uint32_t str_length, str_state, str_ascii, str_compact;  // data offsets of the two compact forms
  uint32_t dict_keys, dict_values;
};
// Dictionaries (Include/internal/pycore_dict.h).
struct Dict {
  uint32_t keys_log2_size, keys_log2_index_bytes, keys_kind, keys_entries;  // in PyDictKeysObject
  uint32_t keys_indices;  // start of the index table; the entries follow it
  uint32_t values_first;  // of PyDictValues
};
// Attributes of instances (Include/internal/pycore_object.h) and integers (cpython/longintrepr.h).
struct Names {
  enum class Instance : uint8_t {
    kTwoPointers,    // 3.11: before the object, values at -4 words and the dict at -3
    kTaggedPointer,  // 3.12: one word at -3 words; odd: values, one byte below their address
    kInline,         // 3.13: the dict at -3 words; without one, values behind the object
  } instance;
  uint32_t module_dict;
  uint32_t type_flags, type_dict_offset, type_basic_size, type_cached_keys;
  uint32_t int_size, int_digits;
  bool int_tagged;  // 3.12+: size << 3 | sign, sign 0 for positive; before, a signed size
};

struct Table {
  int minor;  // of CPython 3
  Runtime runtime;
  Interpreter interpreter;
  Gil gil;
  Thread thread;
  Frame frame;
  Generator generator;
  Code code;
  Objects objects;
  Dict dict;
  Names names;
  uint32_t frame_specials_words;  // framesize = nlocalsplus + stacksize + this, where
                                  // `code.framesize` is missing
  // An executing frame has stacktop == -1 (3.11 - 3.13).
  bool generators_run_through_c;  // 3.11: a generator's eval loop is a C call; 3.12+: inline where
                                  // specialised
  bool c_entry_frames;            // 3.12+: a frame on the C stack marks each entry of the eval loop
  // prev_instr (3.11, 3.12) may be the last cache unit of a call; instr_ptr (3.13+) is the
  // instruction itself.
  std::array<uint8_t, 256> opcodes;  // low nibble: cache units, high nibble: OpcodeKind
};

// What sits at offset 8 of a frame's stack chunk header: previous, size, top; then data
// (pycore_pystate / cpython/pystate.h).
inline constexpr uint32_t kChunkPrevious = 0, kChunkSize = 8, kChunkTop = 16, kChunkData = 24;

extern const Table kPython311, kPython312, kPython313;

}  // namespace layout

// Oldest and newest minor version of CPython 3 that this build reads.
inline constexpr int kOldestMinor = 11, kNewestMinor = 13;

// The table of a version; kUnsupported (naming the supported range) when there is none.
Result<layout::Table> LayoutFor(const PythonVersion& version);

// Size of the prefix of `_PyRuntime` that ApplyDebugOffsets wants to see.
inline constexpr size_t kDebugOffsetsBytes = 1024;

struct DebugOffsetsHeader {
  PythonVersion version;
  bool free_threaded = false;
};
// Reads cookie, version and flag of the table at the start of `_PyRuntime`; nullopt when the cookie
// is missing (before 3.13).
std::optional<DebugOffsetsHeader> ReadDebugOffsetsHeader(std::span<const std::byte> runtime);

// Overlays the runtime's own offsets (3.13) on `table`. kCorrupt when an offset is out of any
// plausible range.
Status ApplyDebugOffsets(std::span<const std::byte> runtime, layout::Table* table);

}  // namespace linescope
