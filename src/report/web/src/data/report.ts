// Everything the views read: the index, and chunks decoded when they are first asked for.
import {ChunkError, ChunkStore} from './chunks.ts';
import type {FunctionTable} from './functions.ts';
import {decodeFunctions} from './functions.ts';
import type {ReportIndex} from './index_types.ts';
import {CallTable} from './calls.ts';
import {SourceFile} from './source.ts';
import type {StackData} from './stacks.ts';
import {decodeStacks} from './stacks.ts';

const KEPT_SOURCES = 24;

export class Report {
  readonly chunks: ChunkStore;
  private functionTable: Promise<FunctionTable | null> | null = null;
  private callTable: Promise<CallTable | null> | null = null;
  private stackData: Promise<StackData | null> | null = null;
  private readonly sources = new Map<number, Promise<SourceFile>>();

  constructor(readonly index: ReportIndex) {
    this.chunks = new ChunkStore(index.chunks);
  }

  // null: the report has none.
  functions(): Promise<FunctionTable | null> {
    this.functionTable ??= this.readFunctions();
    return this.functionTable;
  }

  // null: the report has none.
  callers(): Promise<CallTable | null> {
    this.callTable ??= this.readCalls();
    return this.callTable;
  }

  // null: there are no samples.
  stacks(): Promise<StackData | null> {
    this.stackData ??= this.readStacks();
    return this.stackData;
  }

  source(file: number): Promise<SourceFile> {
    let loading = this.sources.get(file);
    if (loading === undefined) {
      loading = this.readSource(file);
      this.sources.set(file, loading);
      if (this.sources.size > KEPT_SOURCES) {
        const [oldest] = this.sources.keys();
        this.sources.delete(oldest);
      }
    }
    return loading;
  }

  private async readFunctions(): Promise<FunctionTable | null> {
    const chunk = this.index.chunks.functions;
    if (chunk === null) return null;
    const container = await this.chunks.load(chunk);
    return describe(chunk, this.index, () => decodeFunctions(container, this.index.columns));
  }

  private async readCalls(): Promise<CallTable | null> {
    const chunk = this.index.chunks.callers ?? null;
    if (chunk === null) return null;
    const container = await this.chunks.load(chunk);
    return describe(chunk, this.index, () => new CallTable(container, this.index.functions));
  }

  private async readStacks(): Promise<StackData | null> {
    const {calls, samples} = this.index.chunks;
    if (typeof calls !== 'number') return null;
    const [tree, ...cells] = await Promise.all(
        [calls, ...samples].map((chunk) => this.chunks.load(chunk)));
    return describe(calls, this.index, () => decodeStacks(this.index, tree, cells));
  }

  private async readSource(file: number): Promise<SourceFile> {
    const chunk = this.index.files.chunk[file];
    if (chunk === null || chunk === undefined) {
      throw new ChunkError(this.index.files.note[file] || 'The source could not be captured.');
    }
    const container = await this.chunks.load(chunk);
    return describe(chunk, this.index, () => new SourceFile(container, file, this.index.columns));
  }
}

function describe<T>(chunk: number, index: ReportIndex, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const reason = error instanceof RangeError ? error.message : 'its bytes were changed';
    throw new ChunkError(`Part ${chunk + 1} of ${index.chunks.count} is damaged: ${reason}.`);
  }
}
