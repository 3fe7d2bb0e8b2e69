// Base 91 of DATA.md section 1.1: 13 bits in two characters.
const VALUES = new Uint8Array(128).fill(255);
for (let code = 33, value = 0; code < 127; code++) {
  if (!'&<\\'.includes(String.fromCharCode(code))) VALUES[code] = value++;
}

// Throws on a character that is none of the 91. Other damage is for gzip's checksum to find.
export function fromBase91(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((text.length >> 1) * 13 + (text.length & 1) * 6 >> 3);
  let bits = 0;
  let count = 0;
  let to = 0;
  for (let i = 0; i < text.length; i += 2) {
    const low = VALUES[text.charCodeAt(i)] ?? 255;
    const high = i + 1 < text.length ? VALUES[text.charCodeAt(i + 1)] ?? 255 : 0;
    if (low === 255 || high === 255) throw new Error(`a foreign character at ${i}`);
    bits |= (low + high * 91) << count;
    for (count += i + 1 < text.length ? 13 : 6; count >= 8; count -= 8) {
      bytes[to++] = bits & 255;
      bits >>>= 8;
    }
  }
  return bytes;
}
