#include "profiling/database.h"

#include <sqlite3.h>

namespace weft::profiling {
namespace {

constexpr int patience_ms = 500;  // with other processes' writing

DatabaseStatus statusOf(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return DatabaseStatus::good;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return DatabaseStatus::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // tables that are not as this version makes them
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_FORMAT:
      return DatabaseStatus::damaged;
    default:
      return DatabaseStatus::failed;
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Statement::Statement(sqlite3_stmt* handle, DatabaseStatus status)
    : handle_(handle), status_(status) {}
Statement::~Statement() = default;

void Statement::note(int code) {
  if (status_ == DatabaseStatus::good) status_ = statusOf(code);
}

Statement& Statement::bind(int index, std::string_view text) {
  if (handle_)
    note(sqlite3_bind_text(handle_.get(), index + 1, text.data(), static_cast<int>(text.size()),
                           SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(int index, int64_t value) {
  if (handle_) note(sqlite3_bind_int64(handle_.get(), index + 1, value));
  return *this;
}

Statement& Statement::bind(int index, double value) {
  if (handle_) note(sqlite3_bind_double(handle_.get(), index + 1, value));
  return *this;
}

bool Statement::next() {
  if (!handle_ || status_ != DatabaseStatus::good) return false;
  const int code = sqlite3_step(handle_.get());
  note(code);
  return code == SQLITE_ROW;
}

bool Statement::run() {
  next();
  if (handle_) sqlite3_reset(handle_.get());
  return status_ == DatabaseStatus::good;
}

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)) : "";
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

Database::Database(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
      nullptr);
  handle_.reset(handle);  // there is one even where opening failed
  status_ = statusOf(code);
  if (status_ == DatabaseStatus::good) sqlite3_busy_timeout(handle, patience_ms);
}

DatabaseStatus Database::execute(const char* statements) {
  if (status_ == DatabaseStatus::good)
    status_ = statusOf(sqlite3_exec(handle_.get(), statements, nullptr, nullptr, nullptr));
  return status_;
}

Statement Database::prepare(const char* statement) {
  sqlite3_stmt* prepared = nullptr;
  if (status_ == DatabaseStatus::good)
    status_ = statusOf(sqlite3_prepare_v2(handle_.get(), statement, -1, &prepared, nullptr));
  return {prepared, status_};
}

int64_t Database::changes() const { return handle_ ? sqlite3_changes64(handle_.get()) : 0; }

}  // namespace weft::profiling
