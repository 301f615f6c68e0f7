// SQLite as the performance store needs it: every failure is a status, every handle has an owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace weft::profiling {

enum class DatabaseStatus : uint8_t {
  good,
  busy,     // another process writes: try again later
  damaged,  // no database, or one whose contents contradict themselves
  failed,   // anything else: no space, no right
};

// A prepared statement. Not thread-safe. Indexes count from 0.
class Statement {
 public:
  Statement(Statement&&) noexcept = default;
  ~Statement();
  Statement(sqlite3_stmt* handle, DatabaseStatus status);

  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, int64_t value);
  Statement& bind(int index, double value);
  // True: there is a row. False: the end, or a failure.
  bool next();
  // Runs a statement without rows and readies it for other values.
  bool run();

  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  DatabaseStatus status() const { return status_; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  void note(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  DatabaseStatus status_ = DatabaseStatus::good;
};

// One connection. Not thread-safe.
class Database {
 public:
  // Opens the file, which is made if need be. `path` may have no symbolic link in it.
  explicit Database(const std::string& path);

  DatabaseStatus status() const { return status_; }
  DatabaseStatus execute(const char* statements);
  Statement prepare(const char* statement);
  int64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  DatabaseStatus status_ = DatabaseStatus::failed;
};

}  // namespace weft::profiling
