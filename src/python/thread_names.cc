#include "python/thread_names.h"

#include "python/dict_reader.h"

namespace linescope {

std::unordered_map<uint64_t, std::string> ReadThreadNames(RemoteMemory* memory,
                                                          const layout::Table& table,
                                                          Address modules) {
  std::unordered_map<uint64_t, std::string> names;
  const ObjectReader objects(memory, &table);
  DictReader dicts(&objects);
  const Address threading = dicts.Find(modules, "threading");
  if (threading == 0) return names;
  const Address module_dict = objects.Word(threading + table.names.module_dict).value_or(0);
  for (const DictReader::Entry& entry : dicts.Entries(dicts.Find(module_dict, "_active"))) {
    const auto ident = dicts.Int(entry.key);
    auto name = dicts.Str(dicts.Attribute(entry.value, "_name"));
    if (ident && name) names.emplace(*ident, std::move(*name));
  }
  return names;
}

}  // namespace linescope
