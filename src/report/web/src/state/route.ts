// Where in the report one is: a view, or a file and a line, as the URL's fragment says it. File ids
// are stable in one report only.

export type ViewName = 'overview' | 'files' | 'functions' | 'flame' | 'processes' | 'about';

export type Route = {view: ViewName} | {view: 'source'; file: number; line: number | null};

const VIEWS: readonly string[] = ['overview', 'files', 'functions', 'flame', 'processes', 'about'];

// What cannot be understood leads to the overview.
export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#/, '').split('?')[0].split('/');
  if (parts[0] === 'f' && isNumber(parts[1])) {
    const line = isNumber(parts[2]) ? Number(parts[2]) : 0;
    return {view: 'source', file: Number(parts[1]), line: line > 0 ? line : null};
  }
  return {view: VIEWS.includes(parts[0]) ? parts[0] as ViewName : 'overview'};
}

export function formatRoute(route: Route): string {
  if (route.view !== 'source') return `#${route.view}`;
  return route.line === null ? `#f/${route.file}` : `#f/${route.file}/${route.line}`;
}

export function sourceHref(file: number, line: number | null = null): string {
  return formatRoute({view: 'source', file, line});
}

function isNumber(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,9}$/.test(text);
}
