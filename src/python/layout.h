#pragma once
// Where the interpreter keeps what the sampler reads, per CPython version. All offsets are bytes.
// Readers name a field of this table, never an offset. From 3.13 on the runtime carries its own
// table (`_Py_DebugOffsets`, Include/internal/pycore_runtime.h, pycore_debug_offsets.h from 3.14);
// ApplyDebugOffsets overlays it. Before, the numbers come from the headers of that version
// (offsetof on x86-64 and aarch64 are equal).
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
  kMove = 5,     // 3.14+, RETURN_GENERATOR: the frame moves into a generator, and what it leaves
                 // behind looks alive and stands at the next instruction
  kCall = 6,     // before 3.11: kPush, and a call by its name
};

namespace layout {

inline constexpr uint32_t kNone = UINT32_MAX;  // the version has no such field

struct Runtime {
  uint32_t interpreters_head;
  uint32_t gil_holder,
      gil_locked;          // <= 3.11: in the runtime; from 3.12 kNone, see Interpreter::gil
  uint32_t gc_collecting;  // 3.8 only; later see Interpreter
};
struct Interpreter {
  uint32_t id, next, threads_head, modules, sysdict, gc_collecting;
  uint32_t gil;   // 3.12+: pointer to struct _gil_runtime_state
  uint32_t size;  // an upper bound; 0 when unknown
};
struct Gil {  // 3.12+, inside struct _gil_runtime_state
  uint32_t holder, locked;
  uint32_t enabled;  // of free-threaded builds, whose GIL is off as a rule; else kNone
};
struct Thread {
  uint32_t prev, next, interpreter, pthread_id;
  uint32_t native_id;  // the kernel's tid; kNone before 3.11
  // Before 3.11: where the C library keeps the tid in what pthread_id points to.
  uint32_t tid_in_pthread;
  // A word that another thread state at the same address would not have: native_id, or the state's
  // own number.
  uint32_t identity;
  // The current frame; 3.11, 3.12: the pointer to the C frame record (`cframe`).
  uint32_t current_frame;
  uint32_t cframe_frame;       // 3.11, 3.12: offset of current_frame in _PyCFrame
  uint32_t chunk, top, limit;  // data stack, 3.11+
  uint32_t base_frame;         // 3.15+: pointer to the marker below the thread's first frame
  // 3.12+: bits of the life cycle. kActive is set while the thread is attached to its interpreter,
  // which it is as long as it holds the GIL (tstate_activate in Python/pystate.c).
  uint32_t status;
  uint32_t gil_requested;  // 3.15+: not 0 while the thread waits for the GIL (take_gil)
};
// A frame on the data stack (_PyInterpreterFrame, 3.11+) or a frame object (PyFrameObject, before).
struct Frame {
  uint32_t code, previous;
  uint32_t instr;      // the instruction's address; before 3.11: its index in the bytecode
  uint32_t stacktop;   // 3.11 - 3.13: int; 3.14+: pointer; kNone before
  uint32_t owner;      // before 3.11: the byte that says whether the frame executes
  uint32_t is_entry;   // 3.11 only
  uint32_t locals;     // localsplus: the end of the header
  uint64_t code_tags;  // bits of `code` that are no part of the address: _PyStackRef, 3.14+
  // Which of the code's copies `instr` points into: free-threaded builds, 3.14+.
  uint32_t copy;
};
struct Generator {
  uint32_t frame;  // gi_iframe, the frame inside the generator object; kNone before 3.11
};
struct Code {
  uint32_t flags;  // co_flags
  uint32_t file, name, qualname, linetable, first_line, nlocalsplus, stacksize;
  uint32_t framesize;  // 3.12+, in words
  uint32_t version;    // 3.12+
  uint32_t first_traceable;
  uint32_t bytecode;    // co_code_adaptive: end of the header; before 3.11 the end of the object
  uint32_t code_bytes;  // before 3.11: co_code, the `bytes` that hold the bytecode
  // co_tlbc, free-threaded builds, 3.14+: what points to the copies of the bytecode that each
  // thread specialises for itself (a count, then their addresses; the first one is the code's own).
  uint32_t copies;
};
struct Objects {
  uint32_t type;       // ob_type
  uint32_t type_name;  // tp_name
  uint32_t var_size;   // ob_size; in code objects: number of code units
  uint32_t bytes_data;
  uint32_t str_length, str_state, str_ascii, str_compact;  // data offsets of the two compact forms
  uint32_t str_kind_bit;  // in the state: kind (3 bits), compact, ascii follow each other
  uint32_t dict_keys, dict_values;
};
// Dictionaries (Include/internal/pycore_dict.h).
struct Dict {
  // In PyDictKeysObject. Before 3.11 the size itself, entries of one kind, and the index's width
  // follows from the size: then the second and third are kNone.
  uint32_t keys_log2_size, keys_log2_index_bytes, keys_kind, keys_entries;
  uint32_t keys_indices;  // start of the index table; the entries follow it
  uint32_t values_first;  // of PyDictValues
};
// Attributes of instances (Include/internal/pycore_object.h) and integers (cpython/longintrepr.h).
struct Names {
  enum class Instance : uint8_t {
    kDict,           // before 3.11: only a dict, at the type's offset
    kTwoPointers,    // 3.11: before the object, the dict and, a word below it, values
    kTaggedPointer,  // 3.12: one word before the object; odd: values, one byte below their address
    kInline,         // 3.13+: the dict before the object; without one, values behind the object
  } instance;
  uint32_t managed_dict;  // so far before the object
  uint32_t module_dict;
  uint32_t type_flags, type_dict_offset, type_basic_size, type_cached_keys;
  uint32_t int_size, int_digits;
  bool int_tagged;  // 3.12+: size << 3 | sign, sign 0 for positive; before, a signed size
};

// What the position in a frame counts.
enum class Position : uint8_t {
  kPointer,  // 3.11+: the address of a code unit
  kUnits,    // 3.10: code units from the first
  kBytes,    // before: bytes from the first
};
// Which table of a code object gives the lines.
enum class Lines : uint8_t {
  kLocations,  // 3.11+: Objects/locations.md
  kRanges,     // 3.10: PEP 626, Objects/lnotab_notes.txt
  kDeltas,     // before: co_lnotab, Objects/lnotab_notes.txt
};
// What tells in a frame on the data stack that it lives.
enum class Liveness : uint8_t {
  kStacktop,    // 3.11 - 3.13: stacktop is -1 while it executes
  kExecutable,  // 3.14+: `code` is cleared when it is popped; nothing tells executing from calling
  kObject,      // before 3.11: frames are objects, with a byte that says whether they execute
};

struct Table {
  int minor;            // of CPython 3
  bool free_threaded;   // no GIL, as a rule: --disable-gil
  uint32_t extra_head;  // so many bytes an object's head is larger than usual
  Liveness liveness;
  Position position;
  Lines lines;
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
  bool generators_run_through_c;  // 3.11: a generator's eval loop is a C call; 3.12+: inline where
                                  // specialised
  bool c_entry_frames;            // 3.12+: a frame on the C stack marks each entry of the eval loop
  uint8_t executing;              // before 3.11: what the byte says of a frame that executes
  // prev_instr (3.11, 3.12) may be the last cache unit of a call; instr_ptr (3.13+) is the
  // instruction itself.
  std::array<uint8_t, 256> opcodes;  // low nibble: cache units, high nibble: OpcodeKind
};

// In Thread::status (cpython/pystate.h).
inline constexpr uint32_t kThreadActive = 1 << 4;

// What sits at offset 8 of a frame's stack chunk header: previous, size, top; then data
// (pycore_pystate / cpython/pystate.h).
inline constexpr uint32_t kChunkPrevious = 0, kChunkSize = 8, kChunkTop = 16, kChunkData = 24;

extern const Table kPython38, kPython39, kPython310, kPython311, kPython312, kPython313, kPython314,
    kPython315;
inline constexpr std::array kTables = {&kPython38,  &kPython39,  &kPython310, &kPython311,
                                       &kPython312, &kPython313, &kPython314, &kPython315};

// A table's form for builds with --with-trace-refs before 3.13, which link all objects: two
// pointers before an object's own head. A debug build alone (--with-pydebug) moves nothing that is
// read.
Table WithTracedReferences(Table table);
// A table's form for free-threaded builds (3.13+), whose objects have another head.
Table WithFreeThreading(Table table);

}  // namespace layout

// Oldest and newest minor version of CPython 3 that this build reads.
inline constexpr int kOldestMinor = 8, kNewestMinor = 15;

// The table of a version; kUnsupported (naming the supported range) when there is none.
Result<layout::Table> LayoutFor(const PythonVersion& version);
// What to try on a minor version that is newer than the newest known: its table, to be overlaid
// with the runtime's own offsets and then held against the target's memory. No opcode is taken for
// known.
layout::Table LayoutForNewer();

// Size of the prefix of `_PyRuntime` that ApplyDebugOffsets wants to see.
inline constexpr size_t kDebugOffsetsBytes = 1024;

struct DebugOffsetsHeader {
  PythonVersion version;
  bool free_threaded = false;
};
// Reads cookie, version and flag of the table at the start of `_PyRuntime`; nullopt when the cookie
// is missing (before 3.13).
std::optional<DebugOffsetsHeader> ReadDebugOffsetsHeader(std::span<const std::byte> runtime);

// Overlays the runtime's own offsets (3.13+) on `table`, in the form of free-threaded builds when
// the runtime says to be one. kCorrupt when an offset is out of any plausible range.
Status ApplyDebugOffsets(std::span<const std::byte> runtime, layout::Table* table);

}  // namespace linescope
