#include "python/locals_layout.h"

// From the headers of CPython 3.11.7, 3.12.1 and 3.13.0 (offsetof).
namespace linescope::layout {
namespace {

constexpr Values kValues311 = {.frame_namespace = 24,
                               .code_names = 96,
                               .code_kinds = 104,
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

// 3.12 and 3.13 differ from 3.11 in two places, and not from each other.
constexpr Values Since312() {
  Values values = kValues311;
  values.frame_namespace = 40;
  values.type_qualified_name = 872;
  return values;
}
constexpr Values kValues312 = Since312();

}  // namespace

const Values* ValuesFor(int minor) {
  switch (minor) {
    case 11:
      return &kValues311;
    case 12:
    case 13:
      return &kValues312;
  }
  return nullptr;
}

}  // namespace linescope::layout
