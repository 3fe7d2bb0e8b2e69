// The index of a report as DATA.md section 3 describes it. Times are nanoseconds, since the start of
// the run unless said otherwise; null means unavailable and is never the same as 0.

export type Nanoseconds = number;
export type Metric = number | null;

export interface RunStatus {
  kind: 'success' | 'failed' | 'interrupted';
  text: string;
  exit_code: number | null;
  signal: number | null;
}

export interface RunFacts {
  title: string;
  command: string[];
  working_directory: string;
  host: string;
  python: string | null;
  started_unix_ms: number;
  elapsed: Metric;
  samples: number;
  rate_asked: number;
  rate_reached: number | null;
  mode: string;
  // In mode wall: idle threads count.
  idle: boolean;
  // As asked.
  consistency: string;
  // What it came to, in words.
  consistency_used?: string | null;
  collector: string;
  method: string;
  attached: boolean;
  labels: Array<[string, string]>;
  status: RunStatus;
}

export type LeftOutReason =
    'excluded' | 'installed' | 'standard_library' | 'no_file' | 'native' | 'task' | 'outside' | 'rest';

// Code that ran without being shown line by line.
export interface LeftOut {
  name: string | null;
  reason: LeftOutReason;
  files: number;
  time: number;
  samples: number;
}

export interface Scope {
  root: string;
  include: string[];
  exclude: string[];
  text: string;
  left_out?: LeftOut[];
}

export interface Totals {
  time: Metric;
  samples: Metric;
  project_time: Metric;
  project_samples: Metric;
  outside_time: Metric;
  outside_samples: Metric;
  no_python_time: Metric;
  no_python_samples: Metric;
  running: Metric;
  gc: Metric;
  gil: Metric;
  waiting: Metric;
  idle: Metric;
  stopped: Metric;
  unknown: Metric;
  cpu: Metric;
  holding: Metric;
  max_line_time: Metric;
  max_function_time: Metric;
  max_file_time: Metric;
  max_line_total: Metric;
  max_function_total: Metric;
  max_file_total: Metric;
}

export interface Drop {
  reason: string;
  text: string;
  count: number;
}

export type DiagnosticLevel = 'info' | 'warning' | 'error';

export interface Diagnostic {
  level: DiagnosticLevel;
  text: string;
}

// Columns, one entry a bucket.
export interface TimelineData {
  start: number[];
  end: number[];
  running: Metric[];
  gc: Metric[];
  gil: Metric[];
  waiting: Metric[];
  idle: Metric[];
  stopped: Metric[];
  unknown: Metric[];
  samples: number[];
  file: Array<number | null>;
  line: Array<number | null>;
}

// Columns, one entry a file; a file's id is its position.
export interface FileColumns {
  path: string[];
  label: string[];
  kind: string[];
  lines: Metric[];
  time: Metric[];
  samples: Metric[];
  total: Metric[];
  chunk: Array<number | null>;
  verified: Array<boolean | null>;
  note: string[];
}

export interface HotLine {
  file: number;
  line: number;
  first: number;
  last: number;
  label: string;
  function: string | null;
  time: Metric;
  samples: Metric;
  total: Metric;
  text: string | null;
  text_first: number;
  text_last: number;
  tokens: number[];
  // Of a report that compares two runs; null: no samples in either.
  diff?: {base: Metric; delta: number; noise: boolean} | null;
}

export interface ProcessFacts {
  pid: number;
  parent: number | null;
  command: string[];
  executable: string;
  python: string | null;
  start: Metric;
  end: Metric;
  exit_code: number | null;
  signal: number | null;
  time: Metric;
  samples: Metric;
}

export interface ThreadFacts {
  process: number;
  tid: number;
  name: string;
  main: boolean;
  start: Metric;
  end: Metric;
  time: Metric;
  samples: Metric;
  running: Metric;
  gc: Metric;
  gil: Metric;
  waiting: Metric;
  idle: Metric;
  stopped: Metric;
  unknown: Metric;
  cpu: Metric;
  holding: Metric;
}

// Of a report that compares two runs; columns, one entry a file.
export interface CompareFacts {
  title: string;
  text: string;
  base: Metric;
  delta: number;
  noise: boolean;
  max_delta: number;
  files: {base: Metric[]; delta: Metric[]; noise: Array<boolean | null>};
  // Lines of the base that have no counterpart, the greatest first.
  gone: Array<{place: string; text: string; base: number}>;
}

export type StateGroup = 'running' | 'gc' | 'gil' | 'waiting' | 'idle' | 'stopped' | 'unknown';

// What a thread was doing at a sample.
export interface StateFacts {
  name: string;
  group: StateGroup;
  // null: the state does not say.
  holds_gil: boolean | null;
  // Whether the run's mode counts it as time.
  counts: boolean;
}

export interface CallFacts {
  nodes: number;
  cells: number;
  bucket_width: number;
  joined_buckets: number;
  time_unit: number;
}

export interface ReportIndex {
  format: number;
  generator: string;
  run: RunFacts;
  scope: Scope;
  columns: string[];
  token_classes: string[];
  totals: Totals;
  ticks: {due: Metric; taken: Metric; missed: Metric};
  drops: Drop[];
  diagnostics: Diagnostic[];
  timeline: TimelineData | null;
  files: FileColumns;
  functions: number;
  hot: HotLine[];
  processes: ProcessFacts[];
  threads: ThreadFacts[];
  compare?: CompareFacts;
  states: StateFacts[];
  // null: there are no samples, and so no part of the run to look at.
  calls: CallFacts | null;
  chunks: {
    count: number; length: number[]; functions: number | null; calls: number | null; samples: number[]; callers?: number | null;
  };
}
