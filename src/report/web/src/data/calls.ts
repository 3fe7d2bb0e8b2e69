// Who calls whom, as measured stacks of the whole run tell (DATA.md section 2.3).
import type {Container} from './container.ts';

export type OutsideKind = 'library' | 'native' | 'task';
const OUTSIDE_KINDS: readonly OutsideKind[] = ['library', 'native', 'task'];

export interface Call {
  // The other function: a row of the functions chunk, or null when it is not the project's.
  id: number | null;
  // Of a function that is not the project's; null as well: there is none, the stack begins here.
  outside: {name: string; file: string; kind: OutsideKind} | null;
  // Line of the call, in the file of the caller; 0: unknown.
  line: number;
  // False: library code stands between the two.
  direct: boolean;
  time: number;
  samples: number;
}

export class CallTable {
  private readonly names: string[];
  private readonly files: string[];

  constructor(private readonly chunk: Container, private readonly functions: number) {
    this.names = chunk.strings('outside_name');
    this.files = chunk.strings('outside_file');
  }

  // Most time first.
  callers(id: number): Call[] {
    return this.read('caller', id);
  }

  calls(id: number): Call[] {
    return this.read('callee', id);
  }

  // Whether the function was on any stack.
  has(id: number): boolean {
    const [first, end] = this.chunk.group('caller', id);
    return end > first;
  }

  private read(side: 'caller' | 'callee', id: number): Call[] {
    const [first, end] = this.chunk.group(side, id);
    const other = this.chunk.u32(`${side}_function`);
    const line = this.chunk.u32(`${side}_line`);
    const direct = this.chunk.u8(`${side}_direct`);
    const time = this.chunk.f64(`${side}_time`);
    const samples = this.chunk.f64(`${side}_samples`);
    const kinds = this.chunk.u8('outside_kind');
    const out: Call[] = [];
    for (let i = first; i < end; i++) {
      const row = other[i] - this.functions;
      out.push({
        id: other[i] < this.functions ? other[i] : null,
        outside: row >= 0 && row < this.names.length ?
          {name: this.names[row], file: this.files[row], kind: OUTSIDE_KINDS[kinds[row]] ?? 'library'} :
          null,
        line: line[i],
        direct: direct[i] !== 0,
        time: time[i],
        samples: samples[i],
      });
    }
    return out;
  }
}
