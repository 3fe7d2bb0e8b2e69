// Unsigned LEB128: seven bits a byte, low first, the top bit says that more follow. Reads `count`
// numbers; a stream that ends early or holds more than 32 bits throws.
export function decodeVarints(bytes: Uint8Array, count: number): Uint32Array {
  const out = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (at >= bytes.length) throw new RangeError('a list of numbers ends too early');
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 128;
      if (scale > 2 ** 28) throw new RangeError('a number is longer than 32 bits');
    }
    if (value > 0xffffffff) throw new RangeError('a number is longer than 32 bits');
    out[i] = value;
  }
  return out;
}
