#include "native/unwind_library.h"

#include <dlfcn.h>

namespace linescope {
namespace {

#define LS_STRING_(text) #text
#define LS_STRING(text) LS_STRING_(text)
// The symbol behind unw_NAME, which depends on the processor.
#define LS_UNWIND_SYMBOL(name) LS_STRING(UNW_OBJ(name))

Result<UnwindLibrary> Load() {
  // Never closed. Its own copy of the functions by which exceptions unwind stays out of our way:
  // its symbols are for nobody but us.
  void* const library = ::dlopen(LINESCOPE_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(ErrorCode::kUnsupported, "native frames need libunwind: {}", ::dlerror());
  }
  UnwindLibrary functions;
  const char* missing = nullptr;
  const auto find = [&]<class Function>(const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(::dlsym(library, symbol));
    if (*function == nullptr) missing = symbol;
  };
  find(LS_UNWIND_SYMBOL(create_addr_space), &functions.create_addr_space);
  find(LS_UNWIND_SYMBOL(destroy_addr_space), &functions.destroy_addr_space);
  find(LS_UNWIND_SYMBOL(set_caching_policy), &functions.set_caching_policy);
  find(LS_UNWIND_SYMBOL(set_cache_size), &functions.set_cache_size);
  find(LS_UNWIND_SYMBOL(flush_cache), &functions.flush_cache);
  find(LS_UNWIND_SYMBOL(init_remote), &functions.init_remote);
  find(LS_UNWIND_SYMBOL(get_reg), &functions.get_reg);
  find(LS_UNWIND_SYMBOL(step), &functions.step);
  find(LS_UNWIND_SYMBOL(is_signal_frame), &functions.is_signal_frame);
  find(LS_UNWIND_SYMBOL(dwarf_search_unwind_table), &functions.search_table);
  if (missing != nullptr) {
    return Fail(ErrorCode::kUnsupported, "native frames need libunwind: {} has no {}",
                LINESCOPE_LIBUNWIND, missing);
  }
  return functions;
}

}  // namespace

const Result<UnwindLibrary>& LoadUnwindLibrary() {
  static const Result<UnwindLibrary> library = Load();
  return library;
}

}  // namespace linescope
