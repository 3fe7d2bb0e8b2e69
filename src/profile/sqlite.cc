#include "profile/sqlite.h"

#include <sqlite3.h>

#include <cstring>

namespace linescope {

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Status Statement::Run() {
  auto row = Step();
  if (!row) return std::unexpected(std::move(row).error());
  sqlite3_reset(statement_.get());
  return {};
}

Result<bool> Statement::Step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  Error error = database_->LastError();
  sqlite3_reset(statement_.get());
  return std::unexpected(std::move(error));
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (!text) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const uint8_t> Statement::Blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_.get(), column);
  if (!blob) return {};
  return {static_cast<const uint8_t*>(blob),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<int64_t> Statement::OptionalInt(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Int(column);
}

std::optional<double> Statement::OptionalReal(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Real(column);
}

void Statement::BindOne(int index, int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::BindOne(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
}

void Statement::BindOne(int index, std::string_view value) {
  // A null pointer would bind NULL, which an empty text is not.
  const char* data = value.data() ? value.data() : "";
  sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindOne(int index, std::span<const uint8_t> value) {
  const void* data = value.data() ? static_cast<const void*>(value.data()) : "";
  sqlite3_bind_blob64(statement_.get(), index, data, value.size(), SQLITE_STATIC);
}

void Statement::BindOne(int index, std::nullopt_t) { sqlite3_bind_null(statement_.get(), index); }

void Database::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<std::unique_ptr<Database>> Database::Open(const std::string& location, int flags,
                                                 const std::string& name) {
  auto database = std::make_unique<Database>();
  database->name_ = name;
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(location.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  database->handle_.reset(handle);
  if (!handle) return Fail(ErrorCode::kIo, "cannot open {}: out of memory", name);
  if (code != SQLITE_OK) return std::unexpected(database->LastError());
  return database;
}

Result<std::unique_ptr<Database>> Database::Deserialize(std::span<const uint8_t> bytes,
                                                        const std::string& name) {
  LS_TRY(database, Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, name));
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
  if (!copy) return Fail(ErrorCode::kIo, "cannot open {}: out of memory", name);
  std::memcpy(copy, bytes.data(), bytes.size());
  // SQLite owns the copy from here on, also when it fails.
  int code =
      sqlite3_deserialize(database->handle(), "main", copy, static_cast<int64_t>(bytes.size()),
                          static_cast<int64_t>(bytes.size()),
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) return std::unexpected(database->LastError());
  return database;
}

Result<Statement> Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(LastError());
  return Statement(statement, this);
}

Status Database::Execute(const std::string& sql) const {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(LastError());
  return {};
}

Result<std::optional<int64_t>> Database::QueryInt(std::string_view sql) const {
  LS_TRY(statement, Prepare(sql));
  LS_TRY(row, statement.Step());
  if (!row) return std::nullopt;
  return statement.OptionalInt(0);
}

Result<std::optional<std::string>> Database::QueryText(std::string_view sql) const {
  LS_TRY(statement, Prepare(sql));
  LS_TRY(row, statement.Step());
  if (!row || statement.IsNull(0)) return std::nullopt;
  return statement.Text(0);
}

Status Database::Sync() const {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return {};  // of memory
  if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK) return {};
  return Fail(ErrorCode::kIo, "cannot write {} to the disk: {}", name_, ErrnoText());
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

Error Database::LastError() const {
  int code = sqlite3_extended_errcode(handle_.get());
  int system_error = sqlite3_system_errno(handle_.get());
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::kIo, fmt::format("cannot write {}: no space is left on the disk", name_)};
    case SQLITE_ERROR:  // no such table or column, text that should be JSON: not of our making
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return {ErrorCode::kCorrupt,
              fmt::format("{} is damaged: {}", name_, sqlite3_errmsg(handle_.get()))};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kIo, fmt::format("{} is in use by another process", name_)};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::kIo,
              fmt::format("cannot access {}: {}", name_,
                          system_error ? ErrnoText(system_error)
                                       : std::string(sqlite3_errmsg(handle_.get())))};
    case SQLITE_NOMEM:
      return {ErrorCode::kIo, fmt::format("cannot access {}: out of memory", name_)};
    default:
      return {ErrorCode::kInternal,
              fmt::format("cannot access {}: {}", name_, sqlite3_errmsg(handle_.get()))};
  }
}

std::string SqliteUri(std::string_view path, std::string_view query) {
  std::string uri = "file:";
  for (unsigned char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", c);
    } else {
      uri += static_cast<char>(c);
    }
  }
  uri += query;
  return uri;
}

}  // namespace linescope
