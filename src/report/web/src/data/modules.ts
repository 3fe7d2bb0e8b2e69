// Short names for places outside of the project.

// What a path is part of: the installed package, the module of the standard library, the shared
// library, or the file.
export function moduleOf(path: string): string {
  if (path === '') return 'unknown';
  const frozen = /^<frozen ([\w.]+)>$/.exec(path);
  if (frozen !== null) return frozen[1].split('.')[0];
  if (path.startsWith('<')) return path;
  const inPackages = /[/\\](?:site|dist)-packages[/\\]([^/\\]+)/.exec(path);
  if (inPackages !== null) return withoutEnding(inPackages[1]);
  const inLibrary = /[/\\]lib(?:64)?[/\\]python\d[\w.]*[/\\](?:lib-dynload[/\\])?([^/\\]+)/.exec(path);
  if (inLibrary !== null) return withoutEnding(inLibrary[1]);
  return withoutEnding(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));
}

// "socket.py:12", "libc.so.6".
export function placeOf(path: string, line: number): string {
  const short = path.startsWith('<') ? path : path.slice(path.lastIndexOf('/') + 1);
  const name = short === '' ? 'unknown place' : short;
  return line > 0 ? `${name}:${line}` : name;
}

// "libc.so.6" is libc, "_socket.cpython-313-x86_64-linux-gnu.so" is _socket.
function withoutEnding(name: string): string {
  return name.replace(/\.(?:py[cw]?|so(?:\.\d+)*|cpython-.*|abi3\.so)$/, '') || name;
}
