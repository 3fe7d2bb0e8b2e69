#include "profile/recording_file.h"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <system_error>

#include "profile/schema.h"
#include "profile/sqlite.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kCompanions = {"-wal", "-shm", "-journal"};

fs::path Beside(const fs::path& path, const std::string& suffix) {
  fs::path result = path;
  return result += suffix;
}

// A log of an earlier file of this name must not be taken for the new one's.
void RemoveCompanions(const fs::path& path) {
  std::error_code ignored;
  for (const char* suffix : kCompanions) fs::remove(Beside(path, suffix), ignored);
}

// A profile left by a killed recorder is closed into one file, so that nothing of it is lost when
// this run fails too. One that is still being recorded is in use, which SQLite's locks tell.
Status CloseAbandoned(const fs::path& path) {
  auto database = Database::Open(path.string(), SQLITE_OPEN_READWRITE, path.string());
  if (!database) return {};
  auto mode = (*database)->QueryText("PRAGMA journal_mode = DELETE");
  // Where somebody else holds a lock, the mode stays as it is, mostly without an error.
  bool in_use = mode ? *mode != "delete" : sqlite3_errcode((*database)->handle()) == SQLITE_BUSY;
  if (in_use)
    return Fail(ErrorCode::kUsage,
                "{} is in use: it is being recorded by another linescope, or open in another "
                "program; choose another name",
                path.string());
  // Any other failure means damage: the file will be replaced as a whole.
  return {};
}

Result<fs::path> FreePartialName(const fs::path& path) {
  for (int i = 1; i < 100; ++i) {
    fs::path name = Beside(path, i == 1 ? ".partial" : fmt::format(".partial{}", i));
    std::error_code error;
    if (!fs::exists(fs::symlink_status(name, error))) return name;
  }
  return Fail(ErrorCode::kUsage,
              "there are too many unfinished recordings {}.partial*; remove them", path.string());
}

}  // namespace

bool LooksLikeProfile(const fs::path& path) {
  std::array<char, 100> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(header.data(), header.size())) return false;
  uint32_t id = 0;
  for (size_t i = 68; i < 72; ++i) id = id << 8 | static_cast<uint8_t>(header[i]);
  return std::memcmp(header.data(), "SQLite format 3", 16) == 0 && id == kApplicationId;
}

Result<RecordingFile> RecordingFile::Choose(const fs::path& path) {
  std::error_code error;
  if (path.empty() || !path.has_filename())
    return Fail(ErrorCode::kUsage, "cannot write the profile to '{}': it names no file",
                path.string());
  fs::path final_path = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error)
    return Fail(ErrorCode::kUsage, "cannot write the profile to {}: {}", path.string(),
                error.message());
  fs::path folder = final_path.parent_path();
  if (!fs::is_directory(folder, error))
    return Fail(ErrorCode::kUsage, "cannot write the profile to {}: there is no folder {}",
                path.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return Fail(ErrorCode::kUsage,
                "cannot write the profile to {}: the folder {} cannot be written", path.string(),
                folder.string());

  fs::file_status status = fs::status(final_path, error);
  if (!fs::exists(status)) {
    RemoveCompanions(final_path);
    return RecordingFile{final_path, final_path};
  }
  if (fs::is_directory(status))
    return Fail(ErrorCode::kUsage, "cannot write the profile to {}: it is a folder", path.string());
  if (!fs::is_regular_file(status))
    return Fail(ErrorCode::kUsage, "cannot write the profile to {}: it is not a regular file",
                path.string());
  if (::access(final_path.c_str(), W_OK) != 0)
    return Fail(ErrorCode::kUsage, "cannot write the profile to {}: {}", path.string(),
                ErrnoText());
  if (fs::file_size(final_path, error) == 0 && !fs::exists(Beside(final_path, "-wal"), error)) {
    RemoveCompanions(final_path);
    return RecordingFile{final_path, final_path};
  }
  if (!LooksLikeProfile(final_path))
    return Fail(ErrorCode::kUsage,
                "will not overwrite {}: it exists and is not a LineScope profile; choose another "
                "name or remove it",
                path.string());
  LS_CHECK_OK(CloseAbandoned(final_path));
  LS_TRY(partial, FreePartialName(final_path));
  RemoveCompanions(partial);
  return RecordingFile{final_path, partial};
}

void RecordingFile::Remove() const {
  RemoveCompanions(recording_path);
  std::error_code ignored;
  fs::remove(recording_path, ignored);
}

Status RecordingFile::Publish() const {
  if (recording_path == final_path) return {};
  RemoveCompanions(final_path);
  std::error_code error;
  fs::rename(recording_path, final_path, error);
  if (error)
    return Fail(ErrorCode::kIo, "cannot replace {}: {}; the profile is {}", final_path.string(),
                error.message(), recording_path.string());
  return {};
}

}  // namespace linescope
