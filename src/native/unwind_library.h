#pragma once
// libunwind, loaded by the first who unwinds: few commands do, and every start would pay for it.
#include <libunwind.h>

#include "base/result.h"

// Exported for those who bring tables of their own; in no public header.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* table, unw_proc_info_t* found,
                                                  int need_unwind_info, void* argument);

namespace linescope {

// Its functions, under the names that its header has for them less the prefix.
struct UnwindLibrary {
  decltype(&unw_create_addr_space) create_addr_space = nullptr;
  decltype(&unw_destroy_addr_space) destroy_addr_space = nullptr;
  decltype(&unw_set_caching_policy) set_caching_policy = nullptr;
  decltype(&unw_set_cache_size) set_cache_size = nullptr;
  decltype(&unw_flush_cache) flush_cache = nullptr;
  decltype(&unw_init_remote) init_remote = nullptr;
  decltype(&unw_get_reg) get_reg = nullptr;
  decltype(&unw_step) step = nullptr;
  decltype(&unw_is_signal_frame) is_signal_frame = nullptr;
  decltype(&UNW_OBJ(dwarf_search_unwind_table)) search_table = nullptr;
};

// kUnsupported: it is not installed, or is another than this was built with. The same answer each
// time.
const Result<UnwindLibrary>& LoadUnwindLibrary();

}  // namespace linescope
