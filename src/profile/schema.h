#pragma once
// The database's definition. FORMAT.md explains every column; the two change together.
#include <cstdint>

namespace linescope {

// "LnSc" at byte 68 of the file: tells a profile from any other SQLite database.
inline constexpr uint32_t kApplicationId = 0x4c6e5363;

// user_version = 1000 * major + minor. A reader refuses a later major; a minor only adds.
inline constexpr int kFormatMajor = 1;
inline constexpr int kFormatMinor = 2;
inline constexpr int kUserVersion = 1000 * kFormatMajor + kFormatMinor;

// `stack` of samples of threads without Python frames: not NULL, because it is part of the key.
inline constexpr int64_t kStoredNoStack = -1;

// Tables and views, to be executed once in a new database.
extern const char kSchemaSql[];

}  // namespace linescope
