#pragma once
// Where values, and the variables of frames, lie. For the few commands that read them; what every
// walk needs is in layout.h. All offsets are bytes, kNone where the version has no such field.
#include <cstdint>

#include "python/layout.h"

namespace linescope::layout {

struct Values {
  uint32_t frame_namespace;  // f_locals
  uint32_t frame_slots;      // localsplus: one word a variable
  uint64_t slot_tags;  // bits of a slot that are no part of the address; all of them: no object
  // 3.11+: co_localsplusnames and co_localspluskinds, one each a slot. Before: three tuples of
  // names whose slots follow each other, co_varnames, co_cellvars and co_freevars.
  uint32_t code_names, code_kinds;
  uint32_t code_locals, code_cells, code_frees;
  uint32_t cell_value;
  uint32_t float_value;
  uint32_t list_items;   // a pointer to the items
  uint32_t tuple_items;  // the first item
  uint32_t dict_used;
  uint32_t set_used, set_mask, set_table;
  uint32_t type_dict;            // tp_dict
  uint32_t type_qualified_name;  // of types made at run time: ht_qualname
};

// Of a version that is newer than the newest known, as far as they are like that one's.
Values ValuesFor(const Table& table);

}  // namespace linescope::layout
