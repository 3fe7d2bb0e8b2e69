#include "cli/environment.h"

#include <cstdlib>

namespace linescope {

std::optional<std::string> ProcessEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

bool EnvIsSet(const std::string& name) { return !ProcessEnv(name).value_or("").empty(); }

}  // namespace linescope
