#include "pipeline/exports/sqlite.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "base/shared_library.h"
#include "pipeline/exports/shell_words.h"
#include "spec/signal_names.h"

namespace tracer::pipeline::exports {

namespace {

/// The functions of SQLite that are used.
struct Library {
  decltype(&::sqlite3_open_v2) open = nullptr;
  decltype(&::sqlite3_close_v2) close = nullptr;
  decltype(&::sqlite3_exec) execute = nullptr;
  decltype(&::sqlite3_prepare_v2) prepare = nullptr;
  decltype(&::sqlite3_bind_int64) bind_integer = nullptr;
  decltype(&::sqlite3_bind_text) bind_text = nullptr;
  decltype(&::sqlite3_bind_null) bind_null = nullptr;
  decltype(&::sqlite3_step) step = nullptr;
  decltype(&::sqlite3_reset) reset = nullptr;
  decltype(&::sqlite3_finalize) finalize = nullptr;
  decltype(&::sqlite3_errmsg) message = nullptr;

  void find_in(SharedLibrary& library) {
    library.find(open, "sqlite3_open_v2");
    library.find(close, "sqlite3_close_v2");
    library.find(execute, "sqlite3_exec");
    library.find(prepare, "sqlite3_prepare_v2");
    library.find(bind_integer, "sqlite3_bind_int64");
    library.find(bind_text, "sqlite3_bind_text");
    library.find(bind_null, "sqlite3_bind_null");
    library.find(step, "sqlite3_step");
    library.find(reset, "sqlite3_reset");
    library.find(finalize, "sqlite3_finalize");
    library.find(message, "sqlite3_errmsg");
  }
};

// The journal would only serve readers of an unfinished file, and a rollback.
constexpr const char* schema = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
BEGIN;
CREATE TABLE run(start INTEGER NOT NULL, lost INTEGER NOT NULL);
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent INTEGER REFERENCES process(id),
  name TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER, status INTEGER, signal TEXT);
CREATE TABLE exec(process INTEGER NOT NULL REFERENCES process(id), ts INTEGER NOT NULL, path TEXT, command TEXT,
  environment TEXT);
CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES process(id), tid INTEGER NOT NULL,
  name TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER);
CREATE TABLE name(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE object(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE event(id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, dur INTEGER, thread INTEGER NOT NULL REFERENCES thread(id),
  kind TEXT NOT NULL, name INTEGER NOT NULL REFERENCES name(id), ret INTEGER, errno TEXT, path TEXT, fd INTEGER,
  object INTEGER REFERENCES object(id), bytes INTEGER, unfinished TEXT, args TEXT, stack TEXT);
CREATE TABLE fd_event(event INTEGER NOT NULL REFERENCES event(id), what TEXT NOT NULL, fd INTEGER NOT NULL,
  object INTEGER REFERENCES object(id));
CREATE VIEW calls AS SELECT event.id, event.ts, event.dur, process.pid, thread.tid, process.name AS program,
  event.kind, name.name AS name, event.ret, event.errno, event.path, event.fd, object.name AS object, event.bytes,
  event.unfinished, event.args, event.stack
  FROM event JOIN name ON name.id = event.name JOIN thread ON thread.id = event.thread
  JOIN process ON process.id = thread.process LEFT JOIN object ON object.id = event.object
  WHERE event.kind IN ('syscall', 'library');
)";

constexpr const char* ending_of_transaction = R"(
CREATE INDEX event_by_time ON event(ts);
CREATE INDEX event_by_name ON event(name);
CREATE INDEX event_by_thread ON event(thread);
CREATE INDEX event_by_path ON event(path) WHERE path IS NOT NULL;
CREATE INDEX fd_event_by_object ON fd_event(object);
COMMIT;
)";

class Sqlite;

/// A prepared statement, which gets its values in their order.
class Statement {
 public:
  Statement(Sqlite& base, const char* sql) : base_(base), sql_(sql) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() = default;

  Statement& number(std::int64_t value);
  Statement& text(std::string_view value);
  Statement& null();
  Statement& number_or_null(const std::optional<std::int64_t>& value) { return value ? number(*value) : null(); }
  Statement& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
  void run();
  void prepare();
  void finalize();

 private:
  Sqlite& base_;
  const char* sql_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

/// What a call did with a descriptor.
struct UsedDescriptor {
  std::optional<std::int64_t> number;
  std::string object;  ///< what it stands for; empty: unknown
};

/// Takes it from a value with or without a name.
UsedDescriptor used(const json_t* value) {
  UsedDescriptor result;
  const json_t* number = json_is_object(value) ? json_object_get(value, "value") : value;
  if (json_is_integer(number)) {
    result.number = json_integer_value(number);
    result.object = text_of(json_object_get(value, "name"));
  }
  return result;
}

class Sqlite final : public Exporter {
 public:
  Sqlite(const Library& library, std::string path, Complain complain)
      : sqlite_(library), path_(std::move(path)), complain_(std::move(complain)) {}
  ~Sqlite() override { close(); }

  /// Returns whether that worked; else the failure is reported.
  bool open() {
    if (sqlite_.open(path_.c_str(), &base_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) {
      fail();
      return false;
    }
    execute(schema);
    for (Statement* each : statements_) {
      each->prepare();
    }
    return !failed_;
  }

  void begins(const trace::EventTime& first) override { first_ = first; }

  void process_appears(const Process& process) override {
    insert_process_.number(id(process.id)).number(process.pid);
    insert_process_.number_or_null(process.parent == 0 ? std::nullopt : std::optional(id(process.parent)));
    insert_process_.text(process.command).number(epoch(process.start)).run();
  }
  void thread_appears(const Thread& thread) override {
    insert_thread_.number(id(thread.id)).number(id(thread.process->id)).number(thread.tid);
    insert_thread_.text(thread.command).number(epoch(thread.start)).run();
  }
  void forks(const Thread& thread, pid_t child, bool is_thread, Time time) override {
    event(thread, time, is_thread ? "thread" : "fork", is_thread ? "new thread" : "fork");
    insert_event_.null().number(child);
    end_event({}, nullptr);
  }
  void executes(const Thread& thread) override {
    const Exec& exec = thread.process->execs.back();
    std::string environment;
    for (const std::string& change : exec.environment_changes) {
      environment += printable(change) + '\n';
    }
    insert_exec_.number(id(thread.process->id)).number(epoch(exec.time)).text_or_null(printable(exec.path));
    insert_exec_.text_or_null(shell_words(exec.arguments)).text_or_null(environment).run();
    update_process_.text(thread.process->command).null().null().null().number(id(thread.process->id)).run();
    update_thread_.text(thread.command).null().number(id(thread.id)).run();
  }
  void call(const Call& call) override;
  void signal(const Signal& signal) override {
    event(*signal.thread, signal.time, signal.is_stop ? "stop" : "signal", signal.name);
    insert_event_.null().null();
    end_event({}, signal.information);
  }
  void thread_goes(const Thread& thread) override {
    update_thread_.text(thread.command).number(epoch(thread.last)).number(id(thread.id)).run();
  }
  void process_goes(const Process& process) override {
    update_process_.text(process.command)
        .number_or_null(process.end ? std::optional(epoch(*process.end)) : std::nullopt);
    const bool killed = process.status && WIFSIGNALED(*process.status);
    update_process_.number_or_null(process.status && !killed ? std::optional<std::int64_t>(WEXITSTATUS(*process.status))
                                                             : std::nullopt);
    update_process_.text_or_null(killed ? spec::signal_name(static_cast<std::uint64_t>(WTERMSIG(*process.status)))
                                        : std::string_view());
    update_process_.number(id(process.id)).run();
  }
  void lost(std::uint64_t events) override { lost_ += events; }
  void finish() override {
    insert_run_.number(first_.realtime.count()).number(static_cast<std::int64_t>(lost_)).run();
    for (Statement* each : statements_) {
      each->finalize();
    }
    execute(ending_of_transaction);
    close();
  }

 private:
  friend class Statement;

  /// Further files and sockets have no row; a hostile program must not fill the memory with their names.
  static constexpr std::size_t most_names = 1'000'000;
  using Numbers = std::unordered_map<std::string, std::int64_t>;

  static std::int64_t id(std::uint64_t number) { return static_cast<std::int64_t>(number); }
  [[nodiscard]] std::int64_t epoch(Time time) const { return (first_.realtime + (time - first_.monotonic)).count(); }

  /// Reports what SQLite says, once.
  void fail() {
    if (!std::exchange(failed_, true)) {
      complain_(fmt::format("{}: {}; the data base is not complete", path_,
                            base_ == nullptr ? "not enough memory" : sqlite_.message(base_)));
    }
  }
  void execute(const char* sql) {
    if (!failed_ && sqlite_.execute(base_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      fail();
    }
  }
  void close() {
    for (Statement* each : statements_) {
      each->finalize();
    }
    if (base_ != nullptr) {
      static_cast<void>(sqlite_.close(std::exchange(base_, nullptr)));
    }
  }

  std::optional<std::int64_t> number_of(Numbers& numbers, Statement& insert, const std::string& text) {
    if (const auto known = numbers.find(text); known != numbers.end()) {
      return known->second;
    }
    if (text.empty() || numbers.size() == most_names) {
      return std::nullopt;
    }
    const auto number = static_cast<std::int64_t>(numbers.size() + 1);
    numbers.emplace(text, number);
    insert.number(number).text(text).run();
    return number;
  }
  /// Begins a row of `event`: id, ts, thread, kind, name; `dur` and `ret` are to follow.
  void event(const Thread& thread, Time time, std::string_view kind, std::string_view name) {
    const auto number = number_of(names_, insert_name_, std::string(name.empty() ? "?" : name));
    insert_event_.number(++last_event_).number(epoch(time)).number(id(thread.id)).text(kind).number(number.value_or(1));
  }
  struct More {
    std::string_view error;
    std::string path;
    UsedDescriptor descriptor;
    std::optional<std::int64_t> bytes;
    std::string_view unfinished;
    std::string stack;
  };
  void end_event(const More& more, const json_t* arguments) {
    const auto object = number_of(objects_, insert_object_, more.descriptor.object);
    insert_event_.text_or_null(more.error).text_or_null(more.path).number_or_null(more.descriptor.number);
    insert_event_.number_or_null(object).number_or_null(more.bytes).text_or_null(more.unfinished);
    insert_event_.text_or_null(arguments == nullptr ? std::string() : to_json_text(arguments)).text_or_null(more.stack);
    insert_event_.run();
  }
  void use(std::string_view what, const UsedDescriptor& descriptor) {
    if (descriptor.number) {
      const auto object = number_of(objects_, insert_object_, descriptor.object);
      insert_use_.number(last_event_).text(what).number(*descriptor.number).number_or_null(object).run();
    }
  }

  const Library sqlite_;
  std::string path_;
  Complain complain_;
  sqlite3* base_ = nullptr;
  bool failed_ = false;
  trace::EventTime first_;
  std::uint64_t lost_ = 0;
  std::int64_t last_event_ = 0;
  Numbers names_;
  Numbers objects_;
  Statement insert_run_{*this, "INSERT INTO run VALUES (?, ?)"};
  Statement insert_process_{*this, "INSERT INTO process(id, pid, parent, name, start) VALUES (?, ?, ?, ?, ?)"};
  Statement update_process_{*this, "UPDATE process SET name = ?, \"end\" = ?, status = ?, signal = ? WHERE id = ?"};
  Statement insert_exec_{*this, "INSERT INTO exec VALUES (?, ?, ?, ?, ?)"};
  Statement insert_thread_{*this, "INSERT INTO thread(id, process, tid, name, start) VALUES (?, ?, ?, ?, ?)"};
  Statement update_thread_{*this, "UPDATE thread SET name = ?, \"end\" = ? WHERE id = ?"};
  Statement insert_name_{*this, "INSERT INTO name VALUES (?, ?)"};
  Statement insert_object_{*this, "INSERT INTO object VALUES (?, ?)"};
  Statement insert_event_{*this,
                          "INSERT INTO event(id, ts, thread, kind, name, dur, ret, errno, path, fd, object, bytes, "
                          "unfinished, args, stack) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_use_{*this, "INSERT INTO fd_event VALUES (?, ?, ?, ?)"};
  const std::array<Statement*, 10> statements_ = {&insert_run_,    &insert_process_, &update_process_, &insert_exec_,
                                                  &insert_thread_, &update_thread_,  &insert_name_,    &insert_object_,
                                                  &insert_event_,  &insert_use_};
};

void Sqlite::call(const Call& call) {
  event(*call.thread, call.start, call.is_function ? "library" : "syscall", call.name);
  const bool returned = call.end == Call::End::returned;
  insert_event_.number_or_null(returned ? std::optional(call.duration.count()) : std::nullopt);
  insert_event_.number_or_null(returned ? std::optional(call.result) : std::nullopt);
  const json_t* arguments = call.arguments();
  More more;
  more.error = call.error;
  bool cut = false;
  more.path = printable(bytes_of(bare(path_argument(arguments)), cut));
  more.unfinished = unfinished(call.end);
  for (const trace::StackFrame& frame : call.stack) {
    more.stack += frame_text(frame) + '\n';
  }
  if (returned && !call.failed && !call.is_function && byte_direction(call.name) != 0) {
    more.bytes = call.result;
  }
  const UsedDescriptor argument = used(descriptor_argument(arguments));
  const UsedDescriptor opened =
      call.result_is_descriptor ? used(json_object_get(call.record, "ret")) : UsedDescriptor();
  more.descriptor = argument.number ? argument : opened;
  end_event(more, named_arguments(arguments).get());
  use(call.name == "close" ? "close" : "use", argument);
  use("open", opened);
}

void Statement::prepare() {
  if (!base_.failed_ && base_.sqlite_.prepare(base_.base_, sql_, -1, &statement_, nullptr) != SQLITE_OK) {
    base_.fail();
  }
}

void Statement::finalize() {
  if (statement_ != nullptr) {
    static_cast<void>(base_.sqlite_.finalize(std::exchange(statement_, nullptr)));
  }
}

// A value that finds no memory stays as it was; the step reports it.

Statement& Statement::number(std::int64_t value) {
  static_cast<void>(base_.sqlite_.bind_integer(statement_, next_++, value));
  return *this;
}

Statement& Statement::text(std::string_view value) {
  static_cast<void>(
      base_.sqlite_.bind_text(statement_, next_++, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::null() {
  static_cast<void>(base_.sqlite_.bind_null(statement_, next_++));
  return *this;
}

void Statement::run() {
  next_ = 1;
  if (base_.failed_) {
    return;
  }
  if (base_.sqlite_.step(statement_) != SQLITE_DONE) {
    base_.fail();
  }
  static_cast<void>(base_.sqlite_.reset(statement_));
}

}  // namespace

Result<std::unique_ptr<Exporter>> make_sqlite(const std::string& path, Complain complain) {
  SharedLibrary loaded(SQLITE_LIBRARY, SQLITE_PACKAGE);
  Library library;
  library.find_in(loaded);
  if (const Status& status = loaded.status(); !status) {
    return Error{status.error().number, "--format=sqlite: " + status.error().message};
  }
  auto base = std::make_unique<Sqlite>(library, path, std::move(complain));
  if (!base->open()) {
    return Error{0, ""};
  }
  return std::unique_ptr<Exporter>(std::move(base));
}

}  // namespace tracer::pipeline::exports
