#include "native/unwinder.h"

#include <cstring>

#include "native/unwind_library.h"

namespace linescope {
namespace {

// Bounds against garbage that looks like a stack; 1000 Python calls of before 3.11 are 5000 frames.
constexpr size_t kMaxFrames = 1 << 16;
// Of addresses whose way to unwind is remembered: 200 bytes each.
constexpr size_t kCachedAddresses = 4096;

}  // namespace

struct Unwinder::State {
  explicit State(CodeMap* code) : library(LoadUnwindLibrary().value()), map(code) {
    accessors.find_proc_info = FindInfo;
    accessors.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
    accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) {
      return -UNW_ENOINFO;
    };
    accessors.access_mem = ReadMemory;
    accessors.access_reg = ReadRegister;
    accessors.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
      return -UNW_EBADREG;
    };
    accessors.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
    accessors.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
      return -UNW_ENOINFO;
    };
    space = library.create_addr_space(&accessors, 0);
    library.set_caching_policy(space, UNW_CACHE_GLOBAL);
    library.set_cache_size(space, kCachedAddresses, 0);
  }
  ~State() { library.destroy_addr_space(space); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static int FindInfo(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* found, int need,
                      void* argument) {
    auto* state = static_cast<State*>(argument);
    const CodeModule* module = state->map->Find(ip);
    int status = -UNW_ENOINFO;
    if (module != nullptr && !module->unwind.empty()) {
      unw_dyn_info_t table{};
      table.start_ip = module->begin;
      table.end_ip = module->end;
      table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
      table.u.rti.segbase = module->unwind.header;
      table.u.rti.table_data = module->unwind.entries;
      table.u.rti.table_len = module->unwind.count * 8 / sizeof(unw_word_t);
      status = state->library.search_table(space, ip, &table, found, need, argument);
      // The table names the function that begins before an address; there may be a gap.
      if (status == 0 && (ip < found->start_ip || ip >= found->end_ip)) status = -UNW_ENOINFO;
    }
    if (status != 0) state->missing_info = true;
    return status;
  }

  static int ReadMemory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write,
                        void* argument) {
    auto* state = static_cast<State*>(argument);
    if (write != 0) return -UNW_EINVAL;
    const uint64_t offset = address - state->stack.begin, size = state->stack.bytes.size();
    if (sizeof *value <= size && offset <= size - sizeof *value) {
      std::memcpy(value, state->stack.bytes.data() + offset, sizeof *value);
      return 0;
    }
    if (state->map->ReadConstant(address, value, sizeof *value)) return 0;
    // Unwinding information of C++ names its personality routine through a pointer among the data.
    if (state->map->ReadVariable(address, value, sizeof *value)) return 0;
    state->missing_memory = true;
    return -UNW_EINVAL;
  }

  static int ReadRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write,
                          void* argument) {
    auto* state = static_cast<State*>(argument);
    if (write != 0 || number < 0) return -UNW_EBADREG;
    if (!state->registers->Has(static_cast<size_t>(number))) {
      state->missing_register = true;
      return -UNW_EBADREG;
    }
    *value = state->registers->values[static_cast<size_t>(number)];
    return 0;
  }

  const UnwindLibrary& library;
  CodeMap* map;
  unw_accessors_t accessors{};
  unw_addr_space_t space = nullptr;
  uint64_t generation = 0;
  // Of the stack being unwound.
  const Registers* registers = nullptr;
  StackCopy stack;
  bool missing_info = false, missing_register = false, missing_memory = false;
};

Status CheckUnwinding() {
  if (const auto& library = LoadUnwindLibrary(); !library) return std::unexpected(library.error());
  return {};
}

Unwinder::Unwinder(CodeMap* map) : state_(std::make_unique<State>(map)) {}
Unwinder::~Unwinder() = default;

UnwindEnd Unwinder::Unwind(const Registers& registers, const StackCopy& stack,
                           std::vector<NativeFrame>* frames) {
  frames->clear();
  State& state = *state_;
  const UnwindLibrary& library = state.library;
  if (state.generation != state.map->generation()) {
    state.generation = state.map->generation();
    library.flush_cache(state.space, 0, 0);
  }
  state.registers = &registers;
  state.stack = stack;
  state.missing_register = false;
  unw_cursor_t cursor;
  if (library.init_remote(&cursor, state.space, &state) != 0) return UnwindEnd::kRegister;
  bool at_instruction = true;  // not behind a call
  while (frames->size() < kMaxFrames) {
    unw_word_t ip = 0, sp = 0;
    if (library.get_reg(&cursor, UNW_REG_IP, &ip) != 0 ||
        library.get_reg(&cursor, UNW_REG_SP, &sp) != 0) {
      return UnwindEnd::kStack;
    }
    if (ip == 0) return UnwindEnd::kRoot;
    const Address pc = at_instruction ? ip : ip - 1;
    const CodeModule* module = state.map->Find(pc);
    if (module == nullptr && !frames->empty()) return UnwindEnd::kCode;
    frames->push_back({.pc = pc, .stack = sp, .module = module});
    if (module == nullptr) return UnwindEnd::kCode;
    at_instruction = library.is_signal_frame(&cursor) > 0;
    state.missing_info = state.missing_register = state.missing_memory = false;
    const int status = library.step(&cursor);
    // Where something is missing libunwind goes on by guesses of its own.
    if (state.missing_register) return UnwindEnd::kRegister;
    if (state.missing_memory) return UnwindEnd::kStack;
    if (state.missing_info) return UnwindEnd::kNoInfo;
    if (status < 0) return UnwindEnd::kStack;
    if (status == 0) return UnwindEnd::kRoot;
  }
  return UnwindEnd::kStack;
}

const char* UnwindEndName(UnwindEnd end) {
  switch (end) {
    case UnwindEnd::kRoot:
      return "the thread's first function";
    case UnwindEnd::kCode:
      return "code that is in no file";
    case UnwindEnd::kNoInfo:
      return "code without unwinding information";
    case UnwindEnd::kRegister:
      return "a register that is not known of a blocked thread";
    case UnwindEnd::kStack:
      return "stack memory that was not copied, or makes no sense";
  }
  return "";
}

}  // namespace linescope
