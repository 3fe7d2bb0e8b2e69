// Unsigned LEB128: seven bits a byte, low first, the top bit says that more follow. A stream that ends
// early, or holds a number that is longer than it may be, throws.

export function decodeVarints(bytes: Uint8Array, count: number): Uint32Array {
  const out = new Uint32Array(count);
  decode(bytes, out, 0xffffffff);
  return out;
}

// Numbers of up to 64 bits; those above 2^53 lose their last digits.
export function decodeWideVarints(bytes: Uint8Array, count: number): Float64Array {
  const out = new Float64Array(count);
  decode(bytes, out, 2 ** 64);
  return out;
}

// As many as there are, without knowing how many.
export function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) count += bytes[i] < 0x80 ? 1 : 0;
  return count;
}

function decode(bytes: Uint8Array, out: Uint32Array | Float64Array, most: number): void {
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    if (at >= bytes.length) throw new RangeError('a list of numbers ends too early');
    let byte = bytes[at++];
    let value = byte & 0x7f;
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      if (at >= bytes.length) throw new RangeError('a list of numbers ends too early');
      byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (value > most || scale > most) throw new RangeError('a number is too long');
    }
    out[i] = value;
  }
}
