#pragma once
// Lists of strings as JSON arrays, which SQLite's own json_each and json_extract understand.
#include <string>
#include <utility>
#include <vector>

namespace linescope {

// ["a","b"]. Bytes that are not UTF-8 are kept as they are.
std::string JsonList(const std::vector<std::string>& items);
// [["key","value"],…]: an object would lose order and repeated keys.
std::string JsonPairs(const std::vector<std::pair<std::string, std::string>>& items);

}  // namespace linescope
