#include "profile/profile_database.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "profile/schema.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic{"SQLite format 3\0", 16};

fs::path Beside(const fs::path& path, const char* suffix) {
  fs::path result = path;
  return result += suffix;
}

// Sentences for the usual mistakes, before SQLite sees the file.
Status CheckFile(const fs::path& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return Fail(ErrorCode::kIo, "cannot read {}: there is no such file", path.string());
  if (fs::is_directory(status))
    return Fail(ErrorCode::kIo, "cannot read {}: it is a folder", path.string());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorCode::kIo, "cannot read {}: {}", path.string(), ErrnoText());
  std::array<char, kMagic.size()> magic{};
  file.read(magic.data(), magic.size());
  if (file.gcount() == 0)
    return Fail(ErrorCode::kCorrupt, "{} is empty: it is not a LineScope profile", path.string());
  if (!file || std::string_view(magic.data(), magic.size()) != kMagic)
    return Fail(ErrorCode::kCorrupt, "{} is not a LineScope profile", path.string());
  return {};
}

// True where part of the data is not in the file itself: a log, or the journal of a transaction
// that must be undone.
bool HasCompanion(const fs::path& path) {
  std::error_code error;
  if (fs::exists(Beside(path, "-wal"), error)) return true;
  auto journal = fs::file_size(Beside(path, "-journal"), error);
  return !error && journal > 0;
}

}  // namespace

ProfileDatabase::ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<ProfileDatabase> ProfileDatabase::Open(const fs::path& path) {
  LS_CHECK_OK(CheckFile(path));
  bool companion = HasCompanion(path);
  // Nothing to lock and nothing to recover: immutable works for any file on any medium.
  const std::string uri = SqliteUri(path.string(), companion ? "?mode=ro" : "?mode=ro&immutable=1");
  Status status;
  if (auto database = Database::Open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path.string())) {
    sqlite3_busy_timeout((*database)->handle(), 2000);
    ProfileDatabase file(*std::move(database));
    status = file.Check();
    if (status) return file;
  } else {
    status = std::unexpected(std::move(database).error());
  }
  // A log in a folder that we cannot write to may be unreadable in place.
  if (companion && status.error().code == ErrorCode::kIo) {
    LS_TRY(copy, OpenCopy(path));
    LS_CHECK_OK(copy.Check());
    return copy;
  }
  return std::unexpected(std::move(status).error());
}

Result<ProfileDatabase> ProfileDatabase::OpenCopy(const fs::path& path) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "linescope.XXXXXX").string();
  if (error || !::mkdtemp(folder.data()))
    return Fail(ErrorCode::kIo, "cannot make a temporary copy of {}: {}", path.string(),
                error ? error.message() : ErrnoText());
  auto scratch = std::make_unique<ScratchFolder>(folder);
  fs::path copy = scratch->path() / "profile";
  fs::copy_file(path, copy, error);
  for (const char* suffix : {"-wal", "-journal"}) {
    if (!error && fs::exists(Beside(path, suffix)))
      fs::copy_file(Beside(path, suffix), Beside(copy, suffix), error);
  }
  if (error)
    return Fail(ErrorCode::kIo, "cannot make a temporary copy of {}: {}", path.string(),
                error.message());
  LS_TRY(database, Database::Open(copy.string(), SQLITE_OPEN_READWRITE, path.string()));
  return ProfileDatabase(std::move(database), std::move(scratch));
}

Result<ProfileDatabase> ProfileDatabase::FromBytes(std::span<const uint8_t> bytes,
                                                   const std::string& name) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return Fail(ErrorCode::kCorrupt, "{} is not a LineScope profile", name);
  LS_TRY(database, Database::Deserialize(bytes, name));
  ProfileDatabase file(std::move(database));
  LS_CHECK_OK(file.Check());
  return file;
}

Status ProfileDatabase::Check() {
  sqlite3* handle = database_->handle();
  // A `view` of the name of a table could run for ever; there is no reason for one.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  LS_CHECK_OK(database_->Execute("PRAGMA cell_size_check = ON; PRAGMA query_only = ON; BEGIN"));
  LS_TRY(id, database_->QueryInt("PRAGMA application_id"));
  if (static_cast<uint32_t>(id.value_or(0)) != kApplicationId)
    return Fail(ErrorCode::kCorrupt, "{} is an SQLite database but not a LineScope profile",
                database_->name());
  LS_TRY(version, database_->QueryInt("PRAGMA user_version"));
  int64_t major = version.value_or(0) / 1000;
  if (major > kFormatMajor)
    return Fail(ErrorCode::kUnsupported,
                "{} has profile format {}, and this LineScope reads up to {}; use a later version",
                database_->name(), major, kFormatMajor);
  if (major < 1)
    return Fail(ErrorCode::kCorrupt, "{} is damaged: it has no format version", database_->name());
  return {};
}

}  // namespace linescope
