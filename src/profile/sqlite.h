#pragma once
// SQLite as owned values and Status. Internal to profile/: nothing outside includes it. Codes of
// SQLite become ErrorCode here, once: damage is kCorrupt, everything about files is kIo.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace linescope {

class Database;

// A prepared statement. Parameters are bound in order by Bind; NULL is bound for nullopt.
class Statement {
 public:
  Statement() = default;

  template <class... Values>
  void Bind(const Values&... values) {
    int index = 0;
    (BindOne(++index, values), ...);
  }
  // Runs a statement that returns no rows, and makes it ready to be bound again.
  Status Run();
  template <class... Values>
  Status Run(const Values&... values) {
    Bind(values...);
    return Run();
  }

  // True: a row is there to be read. False: there are no more, and the statement is reset.
  Result<bool> Step();
  [[nodiscard]] bool IsNull(int column) const;
  [[nodiscard]] int64_t Int(int column) const;
  [[nodiscard]] double Real(int column) const;
  [[nodiscard]] std::string Text(int column) const;
  [[nodiscard]] std::span<const uint8_t> Blob(int column) const;  // valid until the next Step
  [[nodiscard]] std::optional<int64_t> OptionalInt(int column) const;
  [[nodiscard]] std::optional<double> OptionalReal(int column) const;

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const Database* database)
      : statement_(statement), database_(database) {}

  void BindOne(int index, int64_t value);
  void BindOne(int index, int value) { BindOne(index, int64_t{value}); }
  void BindOne(int index, uint32_t value) { BindOne(index, int64_t{value}); }
  void BindOne(int index, uint64_t value) { BindOne(index, static_cast<int64_t>(value)); }
  void BindOne(int index, bool value) { BindOne(index, int64_t{value}); }
  void BindOne(int index, double value);
  void BindOne(int index, const char* value) { BindOne(index, std::string_view(value)); }
  void BindOne(int index, const std::string& value) { BindOne(index, std::string_view(value)); }
  void BindOne(int index, std::string_view value);  // must live until the statement has run
  void BindOne(int index, std::span<const uint8_t> value);
  void BindOne(int index, std::nullopt_t);
  template <class T>
  void BindOne(int index, const std::optional<T>& value) {
    value ? BindOne(index, *value) : BindOne(index, std::nullopt);
  }

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  const Database* database_ = nullptr;
};

// A connection. Move it only before statements are prepared: they point at it.
class Database {
 public:
  Database() = default;

  // `location` is a path, or with `uri` a file: URI. `name` stands for the file in errors.
  static Result<std::unique_ptr<Database>> Open(const std::string& location, int flags,
                                                const std::string& name);
  // A read-only database over a copy of `bytes`.
  static Result<std::unique_ptr<Database>> Deserialize(std::span<const uint8_t> bytes,
                                                       const std::string& name);

  Result<Statement> Prepare(std::string_view sql) const;
  Status Execute(const std::string& sql) const;
  // First column of the first row; nullopt when there is no row or it is NULL.
  Result<std::optional<int64_t>> QueryInt(std::string_view sql) const;
  Result<std::optional<std::string>> QueryText(std::string_view sql) const;

  // What was written to the database's file is on the disk then; its log is not meant.
  [[nodiscard]] Status Sync() const;

  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The last failure of the connection as an error about `name`.
  [[nodiscard]] Error LastError() const;
  // Checkpoints when it is the last connection; then everything prepared is dead.
  void Close() { handle_.reset(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Closer> handle_;
  std::string name_;
};

// "file:" URI of a path with its special characters escaped, and `query` appended.
std::string SqliteUri(std::string_view path, std::string_view query);

}  // namespace linescope
