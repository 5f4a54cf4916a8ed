import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import { bold, type Printable, printable, type Value } from './printable.ts';
import { visibleJson } from './visible.ts';

/** Nobody reads on (`| head`): the rest of the work is only printing, so it ends, and quietly. */
export class OutputClosed extends Error {}

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

const BORDERLESS = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((name) => [name, '']),
);

/** Narrowest that a column is made to fit the terminal. */
const FLEXIBLE_MIN = 24;

/** Standard output: lines and tables for people, one JSON document for programs. */
export class Output {
  readonly #stream: NodeJS.WriteStream;
  #closed = false;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#closed = true;
      if (error.code === 'EPIPE') return;
      process.stderr.write(`assize: The output can't be written: ${error.message}.\n`);
      process.exit(2);
    });
  }

  /** Somebody reads along, so that much text at once would be lost on them. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** @throws OutputClosed */
  line(text: Printable): void {
    this.#write(`${text.text}\n`);
  }

  /** @throws OutputClosed */
  document(value: unknown): void {
    this.#write(`${visibleJson(value)}\n`);
  }

  /** A piece of a long text, as it is; waits where whoever reads is slower. @throws OutputClosed */
  async piece(text: string): Promise<void> {
    if (this.#closed) throw new OutputClosed();
    if (this.#stream.write(text)) return;
    await new Promise((resolve) => {
      this.#stream.once('drain', resolve);
      this.#stream.once('error', resolve);
    });
    if (this.#closed) throw new OutputClosed();
  }

  /** The last column takes what the terminal leaves it. @throws OutputClosed */
  table(columns: readonly Column[], rows: readonly (readonly Value[])[]): void {
    const cells = rows.map((row) => row.map((value) => printable(value).text));
    const head = columns.map(({ title }) => title);
    const table = new Table({
      head: columns.map(({ title }) => bold(title).text),
      chars: BORDERLESS,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
      colAligns: columns.map(({ align = 'left' }) => align),
      ...this.#widths([head, ...cells]),
    });
    table.push(...cells);
    for (const text of table.toString().split('\n')) this.#write(`${text.trimEnd()}\n`);
  }

  #widths(rows: readonly (readonly string[])[]): { colWidths?: number[]; wordWrap?: true; wrapOnWordBoundary?: true } {
    const width = this.#stream.isTTY ? this.#stream.columns : undefined;
    if (width === undefined) return {};
    const natural = (rows[0] as readonly string[]).map(
      (_, i) => Math.max(...rows.map((row) => stripVTControlCharacters(row[i] as string).length)) + 2,
    );
    const fixed = natural.slice(0, -1).reduce((sum, length) => sum + length, 0);
    if (fixed + (natural.at(-1) as number) <= width) return {};
    const last = Math.max(FLEXIBLE_MIN, width - fixed);
    return { colWidths: [...natural.slice(0, -1), last], wordWrap: true, wrapOnWordBoundary: true };
  }

  #write(text: string): void {
    if (this.#closed) throw new OutputClosed();
    this.#stream.write(text);
  }
}
