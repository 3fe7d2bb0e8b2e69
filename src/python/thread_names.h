#pragma once
// The names that Python's `threading` gave to threads.
#include <cstdint>
#include <string>
#include <unordered_map>

#include "process/remote_memory.h"
#include "python/layout.h"

namespace linescope {

// From `threading._active` of the interpreter whose sys.modules is at `modules`: the name of each
// Thread by its ident (PythonThread::pthread_id). Threads that `threading` does not know (started
// by C code, or before it was imported) have none. The target runs meanwhile: what cannot be read
// is left out. Some dozen reads, and one per 256 loaded modules: for now and then, not for each
// sample.
std::unordered_map<uint64_t, std::string> ReadThreadNames(RemoteMemory* memory,
                                                          const layout::Table& table,
                                                          Address modules);

}  // namespace linescope
