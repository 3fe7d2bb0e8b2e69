// CPython 3.8 to 3.10, from the headers of 3.8.18, 3.9.18 and 3.10.13 (offsetof), those of
// dictionaries from Objects/dict-common.h.
#include "python/layout.h"
#include "python/layout/opcodes.h"

namespace linescope::layout {
namespace {

constexpr Table k38 = {
    .minor = 8,
    .free_threaded = false,
    .extra_head = 0,
    .liveness = Liveness::kObject,
    .position = Position::kBytes,
    .lines = Lines::kDeltas,
    .runtime = {.interpreters_head = 32,
                .gil_holder = 1160,
                .gil_locked = 1168,
                .gc_collecting = 544},
    .interpreter = {.id = 16,
                    .next = 0,
                    .threads_head = 8,
                    .modules = 56,
                    .sysdict = 72,
                    .gc_collecting = kNone,  // in the runtime
                    .gil = kNone,
                    .size = 2720},
    .gil = {.holder = kNone, .locked = kNone, .enabled = kNone},
    .thread = {.prev = 0,
               .next = 8,
               .interpreter = 16,
               .pthread_id = 176,
               .native_id = kNone,
               .tid_in_pthread = 720,  // glibc on x86-64; FindRuntime checks it
               .identity = 256,        // id
               .current_frame = 24,
               .cframe_frame = kNone,
               .chunk = kNone,
               .top = kNone,
               .limit = kNone,
               .base_frame = kNone,
               .status = kNone,
               .gil_requested = kNone},
    .frame = {.code = 32,
              .previous = 24,
              .instr = 104,
              .stacktop = kNone,
              .owner = 116,  // f_executing
              .is_entry = kNone,
              .locals = 120,  // f_blockstack: nothing behind it is read
              .code_tags = 0,
              .copy = kNone},
    .generator = {.frame = kNone},
    .code = {.flags = 36,
             .file = 104,
             .name = 112,
             .qualname = kNone,
             .linetable = 120,
             .first_line = 40,
             .nlocalsplus = kNone,
             .stacksize = 32,
             .framesize = kNone,
             .version = kNone,
             .first_traceable = kNone,
             .bytecode = 176,
             .code_bytes = 48,
             .copies = kNone},
    .objects = {.type = 8,
                .type_name = 24,
                .var_size = 16,
                .bytes_data = 32,
                .str_length = 16,
                .str_state = 32,
                .str_ascii = 48,
                .str_compact = 72,
                .str_kind_bit = 2,
                .dict_keys = 32,
                .dict_values = 40},
    .dict = {.keys_log2_size = 8,  // dk_size
             .keys_log2_index_bytes = kNone,
             .keys_kind = kNone,
             .keys_entries = 32,
             .keys_indices = 40,
             .values_first = 0},
    .names = {.instance = Names::Instance::kDict,
              .managed_dict = kNone,
              .module_dict = 16,
              .type_flags = 168,
              .type_dict_offset = 288,
              .type_basic_size = 32,
              .type_cached_keys = 872,
              .int_size = 16,
              .int_digits = 24,
              .int_tagged = false},
    .frame_specials_words = 0,
    .generators_run_through_c = true,
    .c_entry_frames = false,
    .executing = 1,
    .opcodes = kOpcodes38,
};

constexpr Table k39 = [] {
  Table table = k38;
  table.minor = 9;
  table.runtime.gil_holder = 360;
  table.runtime.gil_locked = 368;
  table.runtime.gc_collecting = kNone;
  table.interpreter.id = 24;
  table.interpreter.modules = 856;
  table.interpreter.sysdict = 872;
  table.interpreter.gc_collecting = 816;
  table.interpreter.size = 5656;
  table.names.type_cached_keys = 864;
  table.opcodes = kOpcodes39;
  return table;
}();

constexpr Table k310 = [] {
  Table table = k39;
  table.minor = 10;
  table.position = Position::kUnits;
  table.lines = Lines::kRanges;
  table.interpreter.size = 113528;
  table.frame.instr = 96;
  table.frame.owner = 108;  // f_state
  table.frame.locals = 112;
  table.names.type_cached_keys = 872;
  table.executing = 0;  // FRAME_EXECUTING
  table.opcodes = kOpcodes310;
  return table;
}();

}  // namespace

constinit const Table kPython38 = k38, kPython39 = k39, kPython310 = k310;

}  // namespace linescope::layout
