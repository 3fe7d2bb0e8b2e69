// What a stored profile says of a part of the run, by SQL and by nothing else: the page's numbers are
// compared with it.
import {execFileSync} from 'node:child_process';

const SCRIPT = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
part = json.loads(sys.argv[2])
width, = db.execute("SELECT bucket_width_ns FROM run").fetchone()
where, values = ["1"], []
if part.get("range"):
    where += ["(bucket + 1) * ? > ?", "bucket * ? < ?"]
    values += [width, part["range"][0], width, part["range"][1]]
if part.get("thread") is not None:
    where += ["sample.thread = ?"]
    values += [part["thread"]]
if part.get("process") is not None:
    where += ["sample.thread IN (SELECT id FROM thread WHERE process = ?)"]
    values += [part["process"]]
if part.get("states"):
    where += ["state IN (SELECT id FROM thread_state WHERE name IN (%s))" % ",".join("?" * len(part["states"]))]
    values += part["states"]
db.execute("CREATE TEMP TABLE part AS SELECT * FROM sample WHERE " + " AND ".join(where), values)

def rows(sql):
    return db.execute(sql).fetchall()

project = """FROM part JOIN stack AS leaf ON leaf.id = part.stack JOIN stack AS top ON top.id = leaf.project
    JOIN frame ON frame.id = top.frame JOIN function ON function.id = frame.function"""
inclusive = """FROM (SELECT DISTINCT leaf, %s AS key FROM ancestor JOIN stack_frame ON stack_frame.stack = ancestor.stack
    WHERE in_project) AS place JOIN part ON part.stack = place.leaf GROUP BY key"""
print(json.dumps({
    "width": width,
    "threads": rows("SELECT id, process, tid, name FROM thread"),
    "processes": rows("SELECT id, pid FROM process"),
    "all": rows("SELECT sum(wall_ns), sum(count), sum(cpu_ns) FROM part")[0],
    "byThread": rows("SELECT thread, sum(wall_ns), sum(count), sum(cpu_ns) FROM part GROUP BY thread"),
    "project": rows("SELECT sum(wall_ns), sum(count) " + project)[0],
    "lines": rows("SELECT file || ':' || line, sum(wall_ns), sum(count) " + project + " GROUP BY 1 ORDER BY 2 DESC"),
    "functions": rows("SELECT qualified_name, sum(wall_ns), sum(count) " + project + " GROUP BY 1"),
    "files": rows("SELECT file, sum(wall_ns), sum(count) " + project + " GROUP BY 1"),
    "functionTotals": rows("SELECT key, sum(wall_ns) " + inclusive % "qualified_name"),
    "fileTotals": rows("SELECT key, sum(wall_ns) " + inclusive % "file"),
}))
`;

export function ask(profile, part = {}) {
  const answer = JSON.parse(execFileSync('python3', ['-c', SCRIPT, profile, JSON.stringify(part)], {encoding: 'utf8'}));
  for (const name of ['lines', 'functions', 'files', 'functionTotals', 'fileTotals', 'byThread']) {
    answer[name] = new Map(answer[name].map(([key, ...values]) => [String(key), values]));
  }
  return answer;
}

// As the page shows nanoseconds, in words of this file: three significant digits.
export function timeText(ns) {
  if (ns === null || ns === undefined) return '–';
  if (ns === 0) return '0 s';
  const [unit, size] = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]].find(([, each]) => ns / each < 999.5) ?? ['min', 60e9];
  const value = ns / size;
  return `${unit === 'ns' ? value : value.toPrecision(3)} ${unit}`;
}
