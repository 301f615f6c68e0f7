#include "profiling/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "core/user_cache.h"
#include "profiling/database.h"

namespace weft::profiling {
namespace {

constexpr const char* file_name = "performance.sqlite";
constexpr const char* lock_name = "performance.lock";

// A file of another version has other tables, and is replaced like a damaged one: what it knew is
// measured again.
constexpr int64_t schema_version = 1;
// A kernel has five parts in its key, a link three and two empty ones.
constexpr size_t key_parts = 5;

// Durability is worth nothing here: a file that a power failure damages is replaced.
constexpr const char* settings = "PRAGMA synchronous=OFF; PRAGMA trusted_schema=OFF;";
constexpr const char* schema = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS measurement(
  kind TEXT, a TEXT, b TEXT, c TEXT, d TEXT, bucket INTEGER,
  count INTEGER NOT NULL, size REAL NOT NULL, rate REAL NOT NULL, variance REAL NOT NULL,
  updated INTEGER NOT NULL,
  PRIMARY KEY(kind, a, b, c, d, bucket)) WITHOUT ROWID;
PRAGMA user_version=1;
COMMIT;
)sql";

// Samples::add in SQL, so that processes which write at once add up. All right-hand sides see the
// old row; `w` is the share of the new measurements.
constexpr const char* upsert = R"sql(
INSERT INTO measurement VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)
ON CONFLICT DO UPDATE SET
  size = size + (excluded.size - size) * (excluded.count * 1.0 / (min(count, 32.0) + excluded.count)),
  variance = (1 - excluded.count * 1.0 / (min(count, 32.0) + excluded.count)) *
      (variance + (excluded.count * 1.0 / (min(count, 32.0) + excluded.count)) *
       (excluded.rate - rate) * (excluded.rate - rate)) +
      (excluded.count * 1.0 / (min(count, 32.0) + excluded.count)) * excluded.variance,
  rate = rate + (excluded.rate - rate) * (excluded.count * 1.0 / (min(count, 32.0) + excluded.count)),
  count = count + excluded.count,
  updated = max(updated, excluded.updated)
)sql";
static_assert(Samples::memory == 32);

constexpr const char* select_columns =
    "SELECT bucket,count,size,rate,variance,updated,kind,a,b,c,d"
    " FROM measurement";

Samples samplesOf(const Statement& row) {
  return {static_cast<uint64_t>(std::max<int64_t>(row.integer(1), 0)), row.real(2), row.real(3),
          row.real(4), row.integer(5)};
}

// Numbers that no measurement gives would spoil every prediction.
bool plausible(const Samples& samples) {
  return samples.count > 0 && std::isfinite(samples.size) && samples.size >= 1 &&
         std::isfinite(samples.rate) && samples.rate > 0 && std::isfinite(samples.variance) &&
         samples.variance >= 0;
}

// The one number that a query gives; nullopt and a status when it gives none.
std::optional<int64_t> number(Database& database, const char* query, DatabaseStatus& status) {
  Statement row = database.prepare(query);
  const bool found = row.next();
  status = row.status();
  if (!found) return std::nullopt;
  return row.integer(0);
}

// Makes the tables of a new file. Anything but `good` says why it cannot be used.
DatabaseStatus ready(Database& database) {
  DatabaseStatus status = database.execute(settings);
  if (status != DatabaseStatus::good) return status;
  const auto version = number(database, "PRAGMA user_version", status);
  if (status != DatabaseStatus::good || version == schema_version) return status;
  const auto tables = number(database, "SELECT count(*) FROM sqlite_schema", status);
  if (status != DatabaseStatus::good) return status;
  return tables == 0 ? database.execute(schema) : DatabaseStatus::damaged;
}

// Held while a damaged file is replaced: only one process may do that, and not to a file that
// another has just put there.
class ReplacementLock {
 public:
  explicit ReplacementLock(const std::string& directory)
      : file_(open((directory + '/' + lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                   0600)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  ~ReplacementLock() {
    if (file_ >= 0) close(file_);
  }
  ReplacementLock(const ReplacementLock&) = delete;
  ReplacementLock& operator=(const ReplacementLock&) = delete;

 private:
  int file_;
};

// SQLite would make it for everybody to read. A file that exists is not opened: closing it would
// give up the locks that other threads have on it (fcntl(2)).
void makePrivate(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) close(fd);
}

std::string absolute(const std::string& directory) {
  char* const resolved = realpath(directory.c_str(), nullptr);
  std::string result = resolved ? resolved : "";
  std::free(resolved);
  return result;
}

std::vector<std::string> keyOf(const KernelKey& kernel, const DeviceKey& device) {
  return {"kernel " + device.uuid, device.driver, kernel.code, kernel.options, kernel.local};
}

std::vector<std::string> keyOf(const LinkKey& link) {
  return {"link " + link.source, link.driver, link.target, "", ""};
}

bool writeCurve(Statement& statement, const std::vector<std::string>& key, const Curve& curve) {
  for (const auto& [bucket, samples] : curve) {
    for (size_t i = 0; i < key_parts; ++i) statement.bind(static_cast<int>(i), key[i]);
    statement.bind(5, static_cast<int64_t>(bucket))
        .bind(6, static_cast<int64_t>(samples.count))
        .bind(7, samples.size)
        .bind(8, samples.rate)
        .bind(9, samples.variance)
        .bind(10, samples.updated);
    if (!statement.run()) return false;
  }
  return true;
}

void appendRow(const Statement& row, Contents& contents) {
  const Samples samples = samplesOf(row);
  if (!plausible(samples)) return;
  const std::string kind = row.text(6);
  const std::string what = kind.substr(kind.find(' ') + 1);
  if (kind.starts_with("kernel "))
    contents.kernels.push_back(
        {{row.text(8), row.text(9), row.text(10)}, {what, row.text(7)}, samples});
  else if (kind.starts_with("link "))
    contents.links.push_back({{what, row.text(8), row.text(7)}, samples});
}

}  // namespace

std::string storeDirectory() { return userCacheDirectory(); }

PerformanceStore::PerformanceStore(const std::string& directory, Clock clock)
    : clock_(clock ? std::move(clock) : [] { return static_cast<int64_t>(std::time(nullptr)); }) {
  const int ours = openUserDirectory(directory);
  if (ours < 0) return;
  close(ours);
  directory_ = absolute(directory);
  if (!directory_.empty()) file_ = directory_ + '/' + file_name;
}

// A connection for one use: applications fork, and a connection must not be used on both sides.
template <class F>
bool PerformanceStore::withDatabase(F&& use) {
  if (file_.empty()) return false;
  const auto attempt = [&] {
    makePrivate(file_);
    Database database(file_);
    DatabaseStatus status = ready(database);
    if (status == DatabaseStatus::good) status = use(database);
    return status;
  };
  DatabaseStatus status = attempt();
  if (status != DatabaseStatus::damaged) return status == DatabaseStatus::good;
  const ReplacementLock lock(directory_);
  status = attempt();
  if (status == DatabaseStatus::damaged) {
    unlink((file_ + "-journal").c_str());
    unlink(file_.c_str());
    status = attempt();
  }
  return status == DatabaseStatus::good;
}

void PerformanceStore::recordKernel(const KernelKey& kernel, const DeviceKey& device,
                                    uint64_t work_items, double nanoseconds) {
  record(keyOf(kernel, device), work_items, nanoseconds);
}

void PerformanceStore::recordTransfer(const LinkKey& link, uint64_t bytes, double nanoseconds) {
  record(keyOf(link), bytes, nanoseconds);
}

std::optional<Prediction> PerformanceStore::kernelTime(const KernelKey& kernel,
                                                       const DeviceKey& device,
                                                       uint64_t work_items) {
  return predict(entryOf(keyOf(kernel, device)), work_items);
}

std::optional<Prediction> PerformanceStore::transferTime(const LinkKey& link, uint64_t bytes) {
  return transferTime(this->link(link), bytes);
}

PerformanceStore::Link PerformanceStore::link(const LinkKey& key) {
  return Link(entryOf(keyOf(key)));
}

std::optional<Prediction> PerformanceStore::transferTime(const Link& link, uint64_t bytes) {
  return predict(*link.entry_, bytes);
}

PerformanceStore::Entries::value_type& PerformanceStore::entryOf(const Key& key) {
  return *state_.lock()->entries.try_emplace(key).first;
}

void PerformanceStore::record(const Key& key, uint64_t size, double nanoseconds) {
  if (size == 0) return;
  const Samples samples = Samples::of(static_cast<double>(size), nanoseconds, clock_());
  if (!plausible(samples)) return;
  const int bucket = Samples::bucketOf(static_cast<double>(size));
  state_.with([&](State& state) {
    Entry& entry = state.entries[key];
    for (Curve* curve : {&entry.curve, &entry.fresh}) (*curve)[bucket].add(samples);
    ++state.pending;
  });
}

std::optional<Prediction> PerformanceStore::predict(Entries::value_type& of, uint64_t size) {
  auto& [key, entry] = of;
  const auto answer = [&] {
    return profiling::predict(entry.curve, static_cast<double>(size), clock_());
  };
  if (const auto state = state_.lock(); entry.loaded || state->knows_file) return answer();
  // Not under the lock: whoever records does not wait for the disk.
  Curve stored = read(key);
  const auto state = state_.lock();
  merge(entry, std::move(stored));
  return answer();
}

Curve PerformanceStore::read(const Key& key) {
  Curve stored;
  withDatabase([&](Database& database) {
    stored.clear();
    const std::string query =
        std::string(select_columns) + " WHERE kind=?1 AND a=?2 AND b=?3 AND c=?4 AND d=?5";
    Statement rows = database.prepare(query.c_str());
    for (size_t i = 0; i < key_parts; ++i) rows.bind(static_cast<int>(i), key[i]);
    while (rows.next())
      if (const Samples samples = samplesOf(rows); plausible(samples))
        stored[static_cast<int>(rows.integer(0))] = samples;
    return rows.status();
  });
  return stored;
}

void PerformanceStore::readAhead() {
  if (file_.empty() ||
      state_.with([](State& state) { return std::exchange(state.read_ahead, true); }))
    return;
  auto all = readAll();
  if (!all) return;
  state_.with([&](State& state) {
    for (auto& [key, curve] : *all) merge(state.entries[key], std::move(curve));
    state.knows_file = true;
  });
}

// nullopt: it cannot be read now, or has more than is worth it.
std::optional<std::map<PerformanceStore::Key, Curve>> PerformanceStore::readAll() {
  constexpr size_t most_rows = 50'000;
  std::map<Key, Curve> all;
  size_t count = 0;
  const bool good = withDatabase([&](Database& database) {
    all.clear();
    count = 0;
    const std::string query =
        std::string(select_columns) + " LIMIT " + std::to_string(most_rows + 1);
    Statement rows = database.prepare(query.c_str());
    while (rows.next()) {
      ++count;
      const Samples samples = samplesOf(rows);
      if (!plausible(samples)) continue;
      Key key;
      for (size_t i = 0; i < key_parts; ++i) key.push_back(rows.text(static_cast<int>(6 + i)));
      all[std::move(key)][static_cast<int>(rows.integer(0))] = samples;
    }
    return rows.status();
  });
  if (!good || count > most_rows) return std::nullopt;
  return all;
}

// What was recorded before the first question is newer than the file.
void PerformanceStore::merge(Entry& entry, Curve stored) {
  if (std::exchange(entry.loaded, true)) return;
  for (const auto& [bucket, samples] : entry.fresh) stored[bucket].add(samples);
  entry.curve = std::move(stored);
}

size_t PerformanceStore::pending() const {
  return state_.with([](const State& state) { return state.pending; });
}

bool PerformanceStore::flush() {
  Batch batch = state_.with([](State& state) {
    Batch taken;
    for (auto& [key, entry] : state.entries)
      if (!entry.fresh.empty()) taken.curves.emplace_back(key, std::exchange(entry.fresh, {}));
    taken.measurements = std::exchange(state.pending, 0);
    return taken;
  });
  if (batch.curves.empty()) return true;
  const bool written = withDatabase([&](Database& database) {
    if (database.execute("BEGIN IMMEDIATE") != DatabaseStatus::good) return database.status();
    Statement statement = database.prepare(upsert);
    for (const auto& [key, curve] : batch.curves)
      if (!writeCurve(statement, key, curve)) return statement.status();
    return database.execute("COMMIT");
  });
  if (!written) putBack(batch);
  return written;
}

void PerformanceStore::putBack(const Batch& batch) {
  state_.with([&](State& state) {
    for (const auto& [key, curve] : batch.curves)
      for (auto [bucket, samples] : curve) {
        // What came meanwhile is newer.
        Samples& kept = state.entries[key].fresh[bucket];
        if (kept.count > 0) samples.add(kept);
        kept = samples;
      }
    state.pending += batch.measurements;
  });
}

Contents PerformanceStore::contents() {
  Contents contents;
  withDatabase([&](Database& database) {
    contents = {};
    const std::string query = std::string(select_columns) + " ORDER BY kind,a,b,c,d,bucket";
    Statement rows = database.prepare(query.c_str());
    while (rows.next()) appendRow(rows, contents);
    return rows.status();
  });
  return contents;
}

std::optional<uint64_t> PerformanceStore::prune(const PruneRule& rule) {
  uint64_t removed = 0;
  const bool done = withDatabase([&](Database& database) {
    Statement statement = database.prepare(
        "DELETE FROM measurement WHERE updated <= ?1 AND "
        "(?2 = '' OR kind = 'kernel ' || ?2 OR kind = 'link ' || ?2 OR "
        "(kind LIKE 'link %' AND b = ?2))");
    statement.bind(0, clock_() - rule.older_than_seconds).bind(1, rule.device);
    if (!statement.run()) return statement.status();
    removed = static_cast<uint64_t>(database.changes());
    return database.execute("VACUUM");
  });
  if (!done) return std::nullopt;
  return removed;
}

}  // namespace weft::profiling
