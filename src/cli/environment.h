#pragma once
#include <functional>
#include <optional>
#include <string>

namespace linescope {

// Looks up an environment variable; tests bring their own.
using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

// Of this process.
std::optional<std::string> ProcessEnv(const std::string& name);

// Set and not empty.
bool EnvIsSet(const std::string& name);

}  // namespace linescope
