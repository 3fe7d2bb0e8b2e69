// CPython 3.11 to 3.15, from the headers of 3.11.7, 3.12.1, 3.13.0, 3.14.10 and 3.15.2 (offsetof).
#include "python/layout.h"
#include "python/layout/opcodes.h"

namespace linescope::layout {
namespace {

constexpr Table k311 = {
    .minor = 11,
    .free_threaded = false,
    .extra_head = 0,
    .liveness = Liveness::kStacktop,
    .position = Position::kPointer,
    .lines = Lines::kLocations,
    .runtime = {.interpreters_head = 40,
                .gil_holder = 368,
                .gil_locked = 376,
                .gc_collecting = kNone},
    .interpreter = {.id = 48,
                    .next = 0,
                    .threads_head = 16,
                    .modules = 888,
                    .sysdict = 904,
                    .gc_collecting = 848,
                    .gil = kNone,
                    .size = 107752},
    .gil = {.holder = kNone, .locked = kNone, .enabled = kNone},
    .thread = {.prev = 0,
               .next = 8,
               .interpreter = 16,
               .pthread_id = 152,
               .native_id = 160,
               .tid_in_pthread = kNone,
               .identity = 160,
               .current_frame = 56,
               .cframe_frame = 8,
               .chunk = 296,
               .top = 304,
               .limit = 312,
               .base_frame = kNone,
               .status = kNone,
               .gil_requested = kNone},
    .frame = {.code = 32,
              .previous = 48,
              .instr = 56,
              .stacktop = 64,
              .owner = 69,
              .is_entry = 68,
              .locals = 72,
              .code_tags = 0,
              .copy = kNone},
    .generator = {.frame = 80},
    .code = {.flags = 48,
             .file = 112,
             .name = 120,
             .qualname = 128,
             .linetable = 136,
             .first_line = 72,
             .nlocalsplus = 76,
             .stacksize = 68,
             .framesize = kNone,
             .version = kNone,
             .first_traceable = 168,
             .bytecode = 184,
             .code_bytes = kNone,
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
    .dict = {.keys_log2_size = 8,
             .keys_log2_index_bytes = 9,
             .keys_kind = 10,
             .keys_entries = 24,
             .keys_indices = 32,
             .values_first = 0},
    .names = {.instance = Names::Instance::kTwoPointers,
              .managed_dict = 24,
              .module_dict = 16,
              .type_flags = 168,
              .type_dict_offset = 288,
              .type_basic_size = 32,
              .type_cached_keys = 872,
              .int_size = 16,
              .int_digits = 24,
              .int_tagged = false},
    .frame_specials_words = 9,
    .generators_run_through_c = true,
    .c_entry_frames = false,
    .executing = 0,
    .opcodes = kOpcodes311,
};

constexpr Table k312 = {
    .minor = 12,
    .free_threaded = false,
    .extra_head = 0,
    .liveness = Liveness::kStacktop,
    .position = Position::kPointer,
    .lines = Lines::kLocations,
    .runtime = {.interpreters_head = 40,
                .gil_holder = kNone,
                .gil_locked = kNone,
                .gc_collecting = kNone},
    .interpreter = {.id = 8,
                    .next = 0,
                    .threads_head = 72,
                    .modules = 944,
                    .sysdict = 352,
                    .gc_collecting = 312,
                    .gil = 384,
                    .size = 383552},
    .gil = {.holder = 8, .locked = 16, .enabled = kNone},
    .thread = {.prev = 0,
               .next = 8,
               .interpreter = 16,
               .pthread_id = 136,
               .native_id = 144,
               .tid_in_pthread = kNone,
               .identity = 144,
               .current_frame = 56,
               .cframe_frame = 0,
               .chunk = 232,
               .top = 240,
               .limit = 248,
               .base_frame = kNone,
               .status = 24,
               .gil_requested = kNone},
    .frame = {.code = 0,
              .previous = 8,
              .instr = 56,
              .stacktop = 64,
              .owner = 70,
              .is_entry = kNone,
              .locals = 72,
              .code_tags = 0,
              .copy = kNone},
    .generator = {.frame = 72},
    .code = {.flags = 48,
             .file = 112,
             .name = 120,
             .qualname = 128,
             .linetable = 136,
             .first_line = 68,
             .nlocalsplus = 72,
             .stacksize = 64,
             .framesize = 76,
             .version = 92,
             .first_traceable = 176,
             .bytecode = 192,
             .code_bytes = kNone,
             .copies = kNone},
    .objects = {.type = 8,
                .type_name = 24,
                .var_size = 16,
                .bytes_data = 32,
                .str_length = 16,
                .str_state = 32,
                .str_ascii = 40,
                .str_compact = 56,
                .str_kind_bit = 2,
                .dict_keys = 32,
                .dict_values = 40},
    .dict = {.keys_log2_size = 8,
             .keys_log2_index_bytes = 9,
             .keys_kind = 10,
             .keys_entries = 24,
             .keys_indices = 32,
             .values_first = 0},
    .names = {.instance = Names::Instance::kTaggedPointer,
              .managed_dict = 24,
              .module_dict = 16,
              .type_flags = 168,
              .type_dict_offset = 288,
              .type_basic_size = 32,
              .type_cached_keys = 880,
              .int_size = 16,
              .int_digits = 24,
              .int_tagged = true},
    .frame_specials_words = 9,
    .generators_run_through_c = false,
    .c_entry_frames = true,
    .executing = 0,
    .opcodes = kOpcodes312,
};

constexpr Table k313 = [] {
  Table table = k312;
  table.minor = 13;
  table.runtime.interpreters_head = 632;
  table.interpreter = {.id = 7272,
                       .next = 7264,
                       .threads_head = 7344,
                       .modules = 7656,
                       .sysdict = 7640,
                       .gc_collecting = 7600,
                       .gil = 16,
                       .size = 194968};
  table.thread.status = 32;
  table.thread.pthread_id = 152;
  table.thread.native_id = table.thread.identity = 160;
  table.thread.current_frame = 72;
  table.thread.cframe_frame = kNone;
  table.code.first_traceable = 184;
  table.code.bytecode = 200;
  table.dict.values_first = 8;
  table.names.instance = Names::Instance::kInline;
  table.opcodes = kOpcodes313;
  return table;
}();

constexpr Table k314 = [] {
  Table table = k313;
  table.minor = 14;
  table.liveness = Liveness::kExecutable;
  table.runtime.interpreters_head = 808;
  table.interpreter = {.id = 7280,
                       .next = 7272,
                       .threads_head = 7344,
                       .modules = 7688,
                       .sysdict = 7672,
                       .gc_collecting = 7600,
                       .gil = 16,
                       .size = 225864};
  table.frame.owner = 74;
  table.frame.locals = 80;
  // Tag bits of _PyStackRef (pycore_stackref.h); a cleared one is no address but the tag alone.
  table.frame.code_tags = 7;
  table.code.first_traceable = 192;
  table.code.bytecode = 208;
  table.frame_specials_words = 10;
  table.opcodes = kOpcodes314;
  return table;
}();

constexpr Table k315 = [] {
  Table table = k314;
  table.minor = 15;
  table.runtime.interpreters_head = 936;
  table.interpreter = {.id = 7272,
                       .next = 7264,
                       .threads_head = 7336,
                       .modules = 7592,
                       .sysdict = 7576,
                       .gc_collecting = 7512,
                       .gil = 16,
                       .size = 226232};
  table.thread.pthread_id = 176;
  table.thread.native_id = table.thread.identity = 184;
  table.thread.chunk = 256;
  table.thread.top = 264;
  table.thread.limit = 272;
  table.thread.base_frame = 80;
  table.thread.gil_requested = 40;
  table.names.type_cached_keys = 888;
  table.opcodes = kOpcodes315;
  return table;
}();

}  // namespace

constinit const Table kPython311 = k311, kPython312 = k312, kPython313 = k313, kPython314 = k314,
                      kPython315 = k315;

}  // namespace linescope::layout
