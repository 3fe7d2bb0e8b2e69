// A chunk after unzipping: a JSON directory and typed columns behind it (DATA.md section 2). Columns
// are views into the chunk's bytes; nothing is copied. Every accessor throws a RangeError with a
// sentence when the bytes do not hold what the directory promises.

const WIDTH = {u8: 1, u32: 4, i32: 4, f64: 8} as const;
type SectionType = keyof typeof WIDTH;

interface Section {
  type: SectionType;
  offset: number;
  count: number;
}

export class Container {
  private readonly sections = new Map<string, Section>();

  constructor(private readonly bytes: Uint8Array) {
    if (bytes.length < 4) throw new RangeError('the part is empty');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const headerLength = view.getUint32(0, true);
    const base = 4 + headerLength;
    if (base > bytes.length || base % 8 !== 0 || bytes.byteOffset % 8 !== 0) {
      throw new RangeError('its directory is damaged');
    }
    const header: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(4, base)));
    if (typeof header !== 'object' || header === null) {
      throw new RangeError('its directory is damaged');
    }
    for (const [name, entry] of Object.entries(header as Record<string, unknown>)) {
      const section = parseSection(entry, base);
      if (section === null) continue;
      if (section.offset + section.count * WIDTH[section.type] > bytes.length) {
        throw new RangeError(`its column ${name} is cut`);
      }
      this.sections.set(name, section);
    }
  }

  has(name: string): boolean {
    return this.sections.has(name);
  }

  u8(name: string): Uint8Array {
    const {offset, count} = this.find(name, 'u8');
    return this.bytes.subarray(offset, offset + count);
  }

  u32(name: string): Uint32Array {
    const {offset, count} = this.find(name, 'u32');
    return new Uint32Array(this.bytes.buffer, this.bytes.byteOffset + offset, count);
  }

  f64(name: string): Float64Array {
    const {offset, count} = this.find(name, 'f64');
    return new Float64Array(this.bytes.buffer, this.bytes.byteOffset + offset, count);
  }

  // One string of a column of strings; ill-formed UTF-8 becomes U+FFFD.
  string(name: string, row: number): string {
    const start = this.u32(`${name}_start`);
    const bytes = this.u8(name);
    return decoder.decode(bytes.subarray(start[row], start[row + 1]));
  }

  strings(name: string): string[] {
    const start = this.u32(`${name}_start`);
    const bytes = this.u8(name);
    const out: string[] = [];
    for (let row = 0; row + 1 < start.length; row++) {
      out.push(decoder.decode(bytes.subarray(start[row], start[row + 1])));
    }
    return out;
  }

  // First row and row past the last of group `group` of the columns that `name` indexes.
  group(name: string, group: number): [number, number] {
    const start = this.u32(`${name}_start`);
    if (group + 1 >= start.length) throw new RangeError(`its column ${name} is cut`);
    return [start[group], start[group + 1]];
  }

  private find(name: string, type: SectionType): Section {
    const section = this.sections.get(name);
    if (section === undefined) throw new RangeError(`its column ${name} is missing`);
    if (section.type !== type) throw new RangeError(`its column ${name} has another type`);
    return section;
  }
}

// A leading U+FEFF in a snapshot is a character of the text, not an encoding mark.
const decoder = new TextDecoder('utf-8', {ignoreBOM: true});

function parseSection(entry: unknown, base: number): Section | null {
  if (!Array.isArray(entry) || entry.length !== 3) return null;
  const [type, offset, count] = entry as [unknown, unknown, unknown];
  if (typeof type !== 'string' || !(type in WIDTH)) return null;
  if (typeof offset !== 'number' || typeof count !== 'number') return null;
  if (offset % 8 !== 0 || offset < 0 || count < 0) throw new RangeError('its directory is damaged');
  return {type: type as SectionType, offset: base + offset, count};
}
