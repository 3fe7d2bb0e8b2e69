// Containers for the tests, written as DATA.md section 2 says.

type Values = readonly number[];
export type Sections = Record<string, ['u8' | 'u32' | 'f64', Values]>;

const ARRAYS = {u8: Uint8Array, u32: Uint32Array, f64: Float64Array};

export function container(sections: Sections): Uint8Array {
  const directory: Record<string, unknown> = {};
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, [type, values]] of Object.entries(sections)) {
    const typed = ARRAYS[type].from(values);
    directory[name] = [type, offset, values.length];
    const part = new Uint8Array(Math.ceil(typed.byteLength / 8) * 8);
    part.set(new Uint8Array(typed.buffer));
    parts.push(part);
    offset += part.length;
  }
  const data = new Uint8Array(offset);
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return bytes(directory, data);
}

// A container with any directory, right or wrong.
export function bytes(directory: unknown, data: Uint8Array): Uint8Array {
  const json = JSON.stringify(directory);
  const header = new TextEncoder().encode(json.padEnd(Math.ceil((json.length + 4) / 8) * 8 - 4));
  const out = new Uint8Array(4 + header.length + data.length);
  new DataView(out.buffer).setUint32(0, header.length, true);
  out.set(header, 4);
  out.set(data, 4 + header.length);
  return out;
}
