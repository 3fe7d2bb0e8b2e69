#include "python/locals_layout.h"

// From the headers of CPython 3.8.18 to 3.15.2 (offsetof).
namespace linescope::layout {
namespace {

constexpr Values kValues38 = {.frame_namespace = 56,
                              .frame_slots = 360,
                              .slot_tags = 0,
                              .code_names = kNone,
                              .code_kinds = kNone,
                              .code_locals = 72,
                              .code_cells = 88,
                              .code_frees = 80,
                              .cell_value = 16,
                              .float_value = 16,
                              .list_items = 24,
                              .tuple_items = 24,
                              .dict_used = 16,
                              .set_used = 24,
                              .set_mask = 32,
                              .set_table = 40,
                              .type_dict = 264,
                              .type_qualified_name = 864};

constexpr Values Of(int minor) {
  Values values = kValues38;
  if (minor == 9) values.type_qualified_name = 856;
  if (minor >= 10) values.type_qualified_name = 864;
  if (minor == 10) values.frame_slots = 352;
  if (minor >= 11) {
    values.frame_namespace = 24;
    values.frame_slots = kNone;
    values.code_names = 96;
    values.code_kinds = 104;
    values.code_locals = values.code_cells = values.code_frees = kNone;
  }
  if (minor >= 12) {
    values.frame_namespace = 40;
    values.type_qualified_name = 872;
  }
  if (minor >= 14) {
    values.slot_tags = 3;  // Py_TAG_BITS, Include/internal/pycore_stackref.h
    values.tuple_items = 32;
  }
  if (minor >= 15) values.type_qualified_name = 880;
  return values;
}

}  // namespace

Values ValuesFor(const Table& table) {
  Values values = Of(table.minor);
  for (uint32_t* field :
       {&values.code_names, &values.code_kinds, &values.code_locals, &values.code_cells,
        &values.code_frees, &values.cell_value, &values.float_value, &values.list_items,
        &values.tuple_items, &values.dict_used, &values.set_used, &values.set_mask,
        &values.set_table, &values.type_dict, &values.type_qualified_name}) {
    if (*field != kNone) *field += table.extra_head;
  }
  if (table.liveness == Liveness::kObject) {
    values.frame_namespace += table.extra_head;
    values.frame_slots += table.extra_head;
  } else {
    values.frame_slots = table.frame.locals;
  }
  return values;
}

}  // namespace linescope::layout
