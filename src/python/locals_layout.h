#pragma once
// Where values, and the variables of frames, lie. For the few commands that read them; what every
// walk needs is in layout.h. All offsets are bytes.
#include <cstdint>

namespace linescope::layout {

struct Values {
  uint32_t frame_namespace;         // f_locals of a frame on the data stack
  uint32_t code_names, code_kinds;  // co_localsplusnames, co_localspluskinds
  uint32_t cell_value;
  uint32_t float_value;
  uint32_t list_items;   // a pointer to the items
  uint32_t tuple_items;  // the first item
  uint32_t dict_used;
  uint32_t set_used, set_mask, set_table;
  uint32_t type_dict;            // tp_dict
  uint32_t type_qualified_name;  // of types made at run time: ht_qualname
};

// For CPython 3.`minor`; nullptr where variables are not read yet.
const Values* ValuesFor(int minor);

}  // namespace linescope::layout
