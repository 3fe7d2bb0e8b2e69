#pragma once
// Opens the database of a profile for reading, without ever changing it, and hardened against what
// may be in it. See reader.h for what callers are promised.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "profile/sqlite.h"

namespace linescope {

class ProfileDatabase {
 public:
  static Result<ProfileDatabase> Open(const std::filesystem::path& path);
  static Result<ProfileDatabase> FromBytes(std::span<const uint8_t> bytes, const std::string& name);

  // In a read transaction for as long as it is open: a profile that is still being recorded is
  // seen as it was at one moment.
  [[nodiscard]] Database& database() const { return *database_; }

 private:
  // A private folder, removed with all it holds.
  class ScratchFolder {
   public:
    explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

   private:
    std::filesystem::path path_;
  };

  explicit ProfileDatabase(std::unique_ptr<Database> database,
                           std::unique_ptr<ScratchFolder> copy = nullptr)
      : copy_(std::move(copy)), database_(std::move(database)) {}

  static Result<ProfileDatabase> OpenCopy(const std::filesystem::path& path);
  // Turns off what a hostile schema could run, checks that this is a profile of a version that we
  // read, and begins the transaction.
  Status Check();

  std::unique_ptr<ScratchFolder> copy_;  // outlives the database in it
  std::unique_ptr<Database> database_;
};

}  // namespace linescope
