// The file tree of the left rail: folders over files, chains of single folders joined into one row.

export interface TreeRow {
  // Unique in the tree: the folder's path, or the file's id as "#12".
  key: string;
  name: string;
  depth: number;
  file: number | null;
  expanded: boolean;
  positionInSet: number;
  setSize: number;
}

interface Folder {
  name: string;
  path: string;
  folders: Map<string, Folder>;
  files: Array<{name: string; id: number}>;
}

export interface FileTree {
  root: Folder;
}

export function buildTree(paths: readonly string[]): FileTree {
  const root: Folder = {name: '', path: '', folders: new Map(), files: []};
  paths.forEach((path, id) => {
    const parts = path.split('/').filter((part) => part !== '');
    const name = parts.pop() ?? path;
    let folder = root;
    for (const part of parts) {
      let next = folder.folders.get(part);
      if (next === undefined) {
        next = {name: part, path: `${folder.path}/${part}`, folders: new Map(), files: []};
        folder.folders.set(part, next);
      }
      folder = next;
    }
    folder.files.push({name, id});
  });
  return {root: skipSingle(root)};
}

// Rows to show: `closed` holds the paths of folded folders.
export function treeRows(tree: FileTree, closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  append(tree.root, 0, closed, rows);
  return rows;
}

function append(folder: Folder, depth: number, closed: ReadonlySet<string>, rows: TreeRow[]): void {
  const setSize = folder.folders.size + folder.files.length;
  let positionInSet = 0;
  for (const child of folder.folders.values()) {
    const joined = joinSingle(child);
    const expanded = !closed.has(joined.folder.path);
    rows.push({key: joined.folder.path, name: joined.name, depth, file: null, expanded,
               positionInSet: ++positionInSet, setSize});
    if (expanded) append(joined.folder, depth + 1, closed, rows);
  }
  for (const {name, id} of folder.files) {
    rows.push({key: `#${id}`, name, depth, file: id, expanded: false,
               positionInSet: ++positionInSet, setSize});
  }
}

// The folder that everything is under needs no row of its own.
function skipSingle(folder: Folder): Folder {
  while (folder.files.length === 0 && folder.folders.size === 1) {
    folder = folder.folders.values().next().value as Folder;
  }
  return folder;
}

function joinSingle(folder: Folder): {folder: Folder; name: string} {
  let name = folder.name;
  while (folder.files.length === 0 && folder.folders.size === 1) {
    folder = folder.folders.values().next().value as Folder;
    name += `/${folder.name}`;
  }
  return {folder, name};
}
