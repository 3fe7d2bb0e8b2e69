#include "profile/schema.h"

namespace linescope {

// Tables first, then the views. In the views, `*_cpu_samples` are the samples of running threads:
// what a profile of mode cpu counts.
const char kSchemaSql[] = R"sql(
CREATE TABLE meta (
  key   TEXT PRIMARY KEY NOT NULL,
  value
) WITHOUT ROWID;

CREATE TABLE run (
  id                INTEGER PRIMARY KEY CHECK (id = 0),
  state             TEXT NOT NULL,
  title             TEXT NOT NULL,
  command           TEXT NOT NULL,
  working_directory TEXT NOT NULL,
  host              TEXT NOT NULL,
  linescope_version TEXT NOT NULL,
  collector         TEXT NOT NULL,
  method            TEXT NOT NULL,
  mode              TEXT NOT NULL,
  idle              INTEGER NOT NULL DEFAULT 1,
  consistency       TEXT NOT NULL,
  rate_hz           REAL NOT NULL,
  started_unix_ns   INTEGER NOT NULL,
  attached          INTEGER NOT NULL,
  project_root      TEXT NOT NULL,
  includes          TEXT NOT NULL,
  excludes          TEXT NOT NULL,
  labels            TEXT NOT NULL,
  bucket_width_ns   INTEGER NOT NULL,
  elapsed_ns        INTEGER NOT NULL DEFAULT 0,
  samples           INTEGER NOT NULL DEFAULT 0,
  exit_code         INTEGER,
  term_signal       INTEGER,
  error             TEXT,
  ticks_due         INTEGER,
  ticks_taken       INTEGER,
  rate_reached_hz   REAL,
  consistency_used  TEXT
);

CREATE TABLE process (
  id             INTEGER PRIMARY KEY,
  pid            INTEGER NOT NULL,
  parent         INTEGER REFERENCES process (id),
  command        TEXT NOT NULL,
  executable     TEXT NOT NULL,
  python_version TEXT,
  start_ns       INTEGER NOT NULL,
  end_ns         INTEGER,
  exit_code      INTEGER,
  term_signal    INTEGER
);

CREATE TABLE thread (
  id       INTEGER PRIMARY KEY,
  process  INTEGER NOT NULL REFERENCES process (id),
  tid      INTEGER NOT NULL,
  name     TEXT NOT NULL,
  is_main  INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns   INTEGER
);

CREATE TABLE thread_state (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  on_cpu    INTEGER NOT NULL DEFAULT 0,
  holds_gil INTEGER
);

CREATE TABLE source_unit (
  id            INTEGER PRIMARY KEY,
  path          TEXT NOT NULL,
  resolved_path TEXT NOT NULL,
  kind          TEXT NOT NULL,
  in_project    INTEGER NOT NULL,
  text          BLOB,
  text_bytes    INTEGER,
  sha256        TEXT,
  verified      INTEGER,
  note          TEXT NOT NULL
);

CREATE TABLE function (
  id             INTEGER PRIMARY KEY,
  file           TEXT NOT NULL,
  name           TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  first_line     INTEGER NOT NULL,
  in_project     INTEGER NOT NULL,
  kind           TEXT NOT NULL DEFAULT 'python'
);

CREATE TABLE frame (
  id         INTEGER PRIMARY KEY,
  function   INTEGER NOT NULL REFERENCES function (id),
  line       INTEGER,
  end_line   INTEGER,
  column     INTEGER,
  end_column INTEGER
);

CREATE TABLE stack (
  id      INTEGER PRIMARY KEY,
  parent  INTEGER REFERENCES stack (id),
  frame   INTEGER NOT NULL REFERENCES frame (id),
  depth   INTEGER NOT NULL,
  project INTEGER REFERENCES stack (id)
);

CREATE TABLE sample (
  bucket  INTEGER NOT NULL,
  thread  INTEGER NOT NULL REFERENCES thread (id),
  stack   INTEGER NOT NULL,
  state   INTEGER NOT NULL REFERENCES thread_state (id),
  count   INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL,
  cpu_ns  INTEGER NOT NULL,
  buckets INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (bucket, thread, stack, state)
) WITHOUT ROWID;

CREATE TABLE thread_activity (
  bucket  INTEGER NOT NULL,
  thread  INTEGER NOT NULL REFERENCES thread (id),
  state   INTEGER NOT NULL REFERENCES thread_state (id),
  count   INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL,
  cpu_ns  INTEGER NOT NULL,
  buckets INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (bucket, thread, state)
) WITHOUT ROWID;

-- "drop" is a keyword of SQL, hence the quotes wherever it is used.
CREATE TABLE "drop" (
  reason TEXT PRIMARY KEY NOT NULL,
  count  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE diagnostic (
  id    INTEGER PRIMARY KEY,
  level TEXT NOT NULL,
  text  TEXT NOT NULL
);

INSERT INTO thread_state VALUES
  (0, 'unknown', 0, NULL), (1, 'running', 1, NULL), (2, 'waiting', 0, NULL), (3, 'gil wait', 0, 0),
  (4, 'running with gil', 1, 1), (5, 'running without gil', 1, 0), (6, 'waiting with gil', 0, 1),
  (7, 'gc', 1, 1), (8, 'idle', 0, NULL), (9, 'stopped', 0, NULL);

-- Every stack with samples, over all threads and time.
CREATE VIEW stack_cost AS
  SELECT stack, sum(count) AS samples,
         sum(CASE WHEN state IN (1, 4, 5, 7) THEN count ELSE 0 END) AS cpu_samples,
         sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
  FROM sample WHERE stack >= 0 GROUP BY stack;

-- Stacks spelled out.
CREATE VIEW stack_frame AS
  SELECT stack.id AS stack, stack.parent, stack.depth, stack.project, frame.function,
         function.file, frame.line, function.qualified_name, function.in_project
  FROM stack JOIN frame ON frame.id = stack.frame JOIN function ON function.id = frame.function;

-- (leaf, stack): every stack at or above a stack that has samples.
CREATE VIEW ancestor AS
  WITH RECURSIVE up (leaf, stack) AS (
    SELECT stack, stack FROM stack_cost
    UNION ALL
    SELECT up.leaf, stack.parent FROM up JOIN stack ON stack.id = up.stack
    WHERE stack.parent IS NOT NULL
  )
  SELECT leaf, stack FROM up;

CREATE VIEW lines AS
  WITH own AS (
    SELECT file, line, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack_frame USING (stack) GROUP BY file, line
  ), project AS (
    SELECT p.file, p.line, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack ON stack.id = stack_cost.stack
         JOIN stack_frame AS p ON p.stack = stack.project GROUP BY p.file, p.line
  ), once AS MATERIALIZED (
    SELECT leaf, file, line, max(in_project) AS in_project
    FROM ancestor JOIN stack_frame USING (stack) GROUP BY leaf, file, line
  ), inclusive AS (
    SELECT file, line, max(in_project) AS in_project, sum(samples) AS samples,
           sum(cpu_samples) AS cpu_samples, sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM once JOIN stack_cost ON stack_cost.stack = once.leaf GROUP BY file, line
  )
  SELECT i.file, i.line, i.in_project,
         coalesce(own.samples, 0) AS self_samples, coalesce(own.cpu_samples, 0) AS self_cpu_samples,
         coalesce(own.wall_ns, 0) AS self_wall_ns, coalesce(own.cpu_ns, 0) AS self_cpu_ns,
         coalesce(p.samples, 0) AS project_samples,
         coalesce(p.cpu_samples, 0) AS project_cpu_samples,
         coalesce(p.wall_ns, 0) AS project_wall_ns, coalesce(p.cpu_ns, 0) AS project_cpu_ns,
         i.samples AS inclusive_samples, i.cpu_samples AS inclusive_cpu_samples,
         i.wall_ns AS inclusive_wall_ns, i.cpu_ns AS inclusive_cpu_ns
  FROM inclusive AS i
       LEFT JOIN own ON own.file = i.file AND own.line IS i.line
       LEFT JOIN project AS p ON p.file = i.file AND p.line IS i.line;

-- Pieces of lines, where columns are known.
CREATE VIEW expressions AS
  WITH place AS (
    SELECT stack.id AS stack, stack.project, function.file, frame.line, frame.end_line,
           frame.column, frame.end_column, function.in_project
    FROM stack JOIN frame ON frame.id = stack.frame JOIN function ON function.id = frame.function
  ), part AS (
    SELECT place.*, samples, cpu_samples, wall_ns, cpu_ns, 1 AS own, 0 AS for_project
    FROM stack_cost JOIN place USING (stack)
    UNION ALL
    SELECT p.*, samples, cpu_samples, wall_ns, cpu_ns, 0, 1
    FROM stack_cost JOIN stack ON stack.id = stack_cost.stack
         JOIN place AS p ON p.stack = stack.project
  )
  SELECT file, line, end_line, column, end_column, max(in_project) AS in_project,
         sum(own * samples) AS self_samples, sum(own * cpu_samples) AS self_cpu_samples,
         sum(own * wall_ns) AS self_wall_ns, sum(own * cpu_ns) AS self_cpu_ns,
         sum(for_project * samples) AS project_samples,
         sum(for_project * cpu_samples) AS project_cpu_samples,
         sum(for_project * wall_ns) AS project_wall_ns, sum(for_project * cpu_ns) AS project_cpu_ns
  FROM part WHERE column IS NOT NULL GROUP BY file, line, end_line, column, end_column;

CREATE VIEW functions AS
  WITH own AS (
    SELECT function, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack_frame USING (stack) GROUP BY function
  ), project AS (
    SELECT p.function, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack ON stack.id = stack_cost.stack
         JOIN stack_frame AS p ON p.stack = stack.project GROUP BY p.function
  ), once AS MATERIALIZED (
    SELECT DISTINCT leaf, function FROM ancestor JOIN stack_frame USING (stack)
  ), inclusive AS (
    SELECT function, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM once JOIN stack_cost ON stack_cost.stack = once.leaf GROUP BY function
  )
  SELECT f.id AS function, f.file, f.qualified_name, f.first_line, f.in_project,
         coalesce(own.samples, 0) AS self_samples, coalesce(own.cpu_samples, 0) AS self_cpu_samples,
         coalesce(own.wall_ns, 0) AS self_wall_ns, coalesce(own.cpu_ns, 0) AS self_cpu_ns,
         coalesce(p.samples, 0) AS project_samples,
         coalesce(p.cpu_samples, 0) AS project_cpu_samples,
         coalesce(p.wall_ns, 0) AS project_wall_ns, coalesce(p.cpu_ns, 0) AS project_cpu_ns,
         i.samples AS inclusive_samples, i.cpu_samples AS inclusive_cpu_samples,
         i.wall_ns AS inclusive_wall_ns, i.cpu_ns AS inclusive_cpu_ns
  FROM inclusive AS i JOIN function AS f ON f.id = i.function
       LEFT JOIN own ON own.function = i.function
       LEFT JOIN project AS p ON p.function = i.function;

CREATE VIEW files AS
  WITH own AS (
    SELECT file, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack_frame USING (stack) GROUP BY file
  ), project AS (
    SELECT p.file, sum(samples) AS samples, sum(cpu_samples) AS cpu_samples,
           sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM stack_cost JOIN stack ON stack.id = stack_cost.stack
         JOIN stack_frame AS p ON p.stack = stack.project GROUP BY p.file
  ), once AS MATERIALIZED (
    SELECT leaf, file, max(in_project) AS in_project
    FROM ancestor JOIN stack_frame USING (stack) GROUP BY leaf, file
  ), inclusive AS (
    SELECT file, max(in_project) AS in_project, sum(samples) AS samples,
           sum(cpu_samples) AS cpu_samples, sum(wall_ns) AS wall_ns, sum(cpu_ns) AS cpu_ns
    FROM once JOIN stack_cost ON stack_cost.stack = once.leaf GROUP BY file
  )
  SELECT i.file, i.in_project,
         coalesce(own.samples, 0) AS self_samples, coalesce(own.cpu_samples, 0) AS self_cpu_samples,
         coalesce(own.wall_ns, 0) AS self_wall_ns, coalesce(own.cpu_ns, 0) AS self_cpu_ns,
         coalesce(p.samples, 0) AS project_samples,
         coalesce(p.cpu_samples, 0) AS project_cpu_samples,
         coalesce(p.wall_ns, 0) AS project_wall_ns, coalesce(p.cpu_ns, 0) AS project_cpu_ns,
         i.samples AS inclusive_samples, i.cpu_samples AS inclusive_cpu_samples,
         i.wall_ns AS inclusive_wall_ns, i.cpu_ns AS inclusive_cpu_ns
  FROM inclusive AS i LEFT JOIN own ON own.file = i.file LEFT JOIN project AS p ON p.file = i.file;
)sql";

}  // namespace linescope
