// Prints the opcode table of the interpreter whose headers it is compiled with, for src/python/layout/opcodes.h:
//   cc -I$(python3.13 -c 'import sysconfig; print(sysconfig.get_path("include"))') tools/opcode_table.c -o t && ./t
// One byte an opcode: low nibble = inline cache units, high nibble = kind (see OpcodeKind in src/python/layout.h).
#define Py_BUILD_CORE 1
#define NEED_OPCODE_TABLES 1
#define NEED_OPCODE_METADATA 1
#include "Python.h"
#if PY_VERSION_HEX < 0x030b0000
#include "opcode.h"
#elif PY_VERSION_HEX < 0x030d0000
#include "internal/pycore_opcode.h"
#include "opcode.h"
#else
#include "internal/pycore_opcode_metadata.h"
#include "opcode_ids.h"
#endif
#include <stdio.h>

enum { kOther = 0, kPush = 1, kIterate = 2, kReturn = 3, kOpaque = 4, kMove = 5, kCall = 6 };

#if PY_VERSION_HEX < 0x030b0000
// Frames are objects and every call runs through C: kPush is what may call Python code at all, short of destructors; kCall what
// calls as a rule.
static int Kind(int op) {
  switch (op) {
    case NOP:
    case POP_TOP:
    case ROT_TWO:
    case ROT_THREE:
    case ROT_FOUR:
    case DUP_TOP:
    case DUP_TOP_TWO:
    case LOAD_CONST:
    case LOAD_FAST:
    case STORE_FAST:
    case DELETE_FAST:
    case LOAD_GLOBAL:
    case STORE_GLOBAL:
    case LOAD_CLOSURE:
    case LOAD_DEREF:
    case STORE_DEREF:
    case BUILD_TUPLE:
    case BUILD_LIST:
    case BUILD_SLICE:
    case MAKE_FUNCTION:
    case JUMP_FORWARD:
    case JUMP_ABSOLUTE:
    case SETUP_FINALLY:
    case POP_BLOCK:
    case POP_EXCEPT:
    case YIELD_VALUE:
    case EXTENDED_ARG:
      return kOther;
    case RETURN_VALUE:
      return kReturn;
    case CALL_FUNCTION:
    case CALL_FUNCTION_KW:
    case CALL_FUNCTION_EX:
    case CALL_METHOD:
    case YIELD_FROM:
      return kCall;
  }
  return kPush;
}
#else

static int Kind(int op) {
  switch (op) {
    case CALL:
    case CALL_FUNCTION_EX:
    case LOAD_ATTR:
#ifdef BINARY_SUBSCR
    case BINARY_SUBSCR:
#endif
#ifdef CALL_KW
    case CALL_KW:
#endif
#if PY_VERSION_HEX >= 0x030e0000
    case BINARY_OP:  // __getitem__; BINARY_SUBSCR before
#endif
#ifdef LOAD_SUPER_ATTR
    case LOAD_SUPER_ATTR:
#endif
#ifdef INSTRUMENTED_CALL
    case INSTRUMENTED_CALL:
    case INSTRUMENTED_CALL_FUNCTION_EX:
    case INSTRUMENTED_LOAD_SUPER_ATTR:
#endif
#ifdef INSTRUMENTED_CALL_KW
    case INSTRUMENTED_CALL_KW:
#endif
      return kPush;
    case FOR_ITER:
    case SEND:
#ifdef INSTRUMENTED_FOR_ITER
    case INSTRUMENTED_FOR_ITER:
#endif
      return kIterate;
    case RETURN_GENERATOR:
      return PY_VERSION_HEX >= 0x030e0000 ? kMove : kReturn;
    case RETURN_VALUE:
#ifdef RETURN_CONST
    case RETURN_CONST:
    case INSTRUMENTED_RETURN_CONST:
#endif
#ifdef INTERPRETER_EXIT
    case INTERPRETER_EXIT:
    case INSTRUMENTED_RETURN_VALUE:
#endif
      return kReturn;
#ifdef INSTRUMENTED_LINE
    case INSTRUMENTED_LINE:
    case INSTRUMENTED_INSTRUCTION:
#endif
#ifdef ENTER_EXECUTOR
    case ENTER_EXECUTOR:
#endif
      return kOpaque;
  }
  return kOther;
}
#endif

// The opcode whose inline cache `op` has: the family's general form, for instrumented opcodes too.
static int Base(int op) {
  switch (op) {
#ifdef INSTRUMENTED_CALL
    case INSTRUMENTED_CALL: return CALL;
    case INSTRUMENTED_FOR_ITER: return FOR_ITER;
    case INSTRUMENTED_LOAD_SUPER_ATTR: return LOAD_SUPER_ATTR;
#endif
#if PY_VERSION_HEX >= 0x030e0000
    case INSTRUMENTED_CALL_KW: return CALL_KW;
    case INSTRUMENTED_CALL_FUNCTION_EX: return CALL_FUNCTION_EX;
#endif
#if PY_VERSION_HEX >= 0x030d0000
    case INSTRUMENTED_JUMP_BACKWARD: return JUMP_BACKWARD;
    case INSTRUMENTED_POP_JUMP_IF_TRUE: return POP_JUMP_IF_TRUE;
    case INSTRUMENTED_POP_JUMP_IF_FALSE: return POP_JUMP_IF_FALSE;
    case INSTRUMENTED_POP_JUMP_IF_NONE: return POP_JUMP_IF_NONE;
    case INSTRUMENTED_POP_JUMP_IF_NOT_NONE: return POP_JUMP_IF_NOT_NONE;
#endif
  }
#if PY_VERSION_HEX < 0x030b0000
  return op;
#else
  return _PyOpcode_Deopt[op] ? _PyOpcode_Deopt[op] : op;
#endif
}

static int CacheUnits(int op) {
#if PY_VERSION_HEX < 0x030b0000
  return 0;
#else
  return _PyOpcode_Caches[op];
#endif
}

int main(void) {
  for (int op = 0; op < 256; op++) {
    int base = Base(op);
    int byte = Kind(Kind(op) ? op : base) << 4 | CacheUnits(base);
    printf("0x%02x,%s", byte, op % 16 == 15 ? "\n" : " ");
  }
  return 0;
}
