import { fstatSync, writeSync } from 'node:fs';
import Table from 'cli-table3';
import { bold, type Printable, printable, type Value } from './printable.ts';
import { visibleJson } from './visible.ts';
import { lengthOf, wrapped } from './wrapped.ts';

/** Nobody reads on (`| head`): the rest of the work is only printing, so it ends, and quietly. */
export class OutputClosed extends Error {}

/** What was said can't be written, all of it or the rest. */
export class OutputUnwritable extends Error {
  constructor(cause: unknown) {
    super(`The output can't be written: ${(cause as Error).message}.`, { cause });
  }
}

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

const BORDERLESS = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((name) => [name, '']),
);

/** Narrowest that the last column is made to fit the terminal. */
const FLEXIBLE_MIN = 24;
/** Between two columns. */
const GAP = 2;
/** Rows that are laid out together: of more, the layout takes as long as the square of them. */
const ROWS_AT_ONCE = 200;
/** Before what stands below a row. */
const BELOW = ' '.repeat(6);

/** Standard output: lines and tables for people, one JSON document for programs. */
export class Output {
  readonly #stream: NodeJS.WriteStream;
  #closed = false;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
    stream.on('error', () => {
      this.#closed = true;
    });
  }

  /** Somebody reads along, so that much text at once would be lost on them. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** How wide a line may be; undefined where nobody says. Some terminals don't know theirs, and say 0. */
  get width(): number | undefined {
    return (this.#stream.isTTY && this.#stream.columns) || undefined;
  }

  /** @throws OutputClosed, OutputUnwritable */
  line(text: Printable): void {
    this.#write(`${text.text}\n`);
  }

  /** @throws OutputClosed, OutputUnwritable */
  document(value: unknown): void {
    this.#write(`${visibleJson(value)}\n`);
  }

  /** A piece of a long text, as it is; waits where whoever reads is slower. @throws OutputClosed, OutputUnwritable */
  async piece(text: string): Promise<void> {
    if (this.#write(text)) return;
    await new Promise((resolve) => {
      this.#stream.once('drain', resolve);
      this.#stream.once('error', resolve);
    });
    if (this.#closed) throw new OutputClosed();
  }

  /**
   * The last column takes what the terminal leaves it. Where that is too little, what no longer fits stands below each row.
   * @throws OutputClosed, OutputUnwritable
   */
  table(columns: readonly Column[], rows: readonly (readonly Value[])[]): void {
    const cells = rows.map((row) => row.map((value) => printable(value).text));
    const head = columns.map(({ title }) => bold(title).text);
    const { width } = this;
    const natural = columns.map((_, i) => widestOf([head, ...cells].map((row) => row[i] as string)) + GAP);
    const kept = width === undefined ? columns.length : fittingOf(natural, narrowest([head, ...cells]), width);
    const narrowed = kept < columns.length ? undefined : widthsOf(natural, width);
    const lines = grid(columns.slice(0, kept), [head, ...cells], narrowed ?? natural, narrowed !== undefined);
    if (kept === columns.length) {
      for (const text of lines) this.#write(`${text.trimEnd()}\n`);
      return;
    }
    for (const [i, row] of [head, ...cells].entries()) {
      this.#write(`${(lines[i] as string).trimEnd()}\n`);
      const rest = row.slice(kept).filter((text) => text !== '');
      for (const text of wrapped(rest.join(' '.repeat(GAP)), (width as number) - BELOW.length))
        this.#write(`${BELOW}${text}\n`);
    }
  }

  /** False where whoever reads is slower. */
  #write(text: string): boolean {
    if (this.#closed) throw new OutputClosed();
    return writeTo(this.#stream, text);
  }
}

/**
 * Writes all of a text. To a file without the stream, which writes once, and takes a part of a text for all of it. False where whoever reads is
 * slower.
 *
 * @throws OutputUnwritable
 */
export function writeTo(stream: NodeJS.WriteStream, text: string): boolean {
  const file = fileOf(stream);
  if (file === undefined) return stream.write(text);
  writeWhole(file, text);
  return true;
}

function fileOf({ fd }: NodeJS.WriteStream & { readonly fd?: number }): number | undefined {
  return fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
}

/** A disk that is full takes what has room, and refuses only what comes then. */
function writeWhole(file: number, text: string): void {
  try {
    for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(file, rest));
  } catch (cause) {
    throw new OutputUnwritable(cause);
  }
}

/** How narrow the last column may be, so that no word of it is cut. */
function narrowest(rows: readonly (readonly string[])[]): number {
  const texts = rows.map((row) => row.at(-1) as string);
  const widest = widestOf(texts.flatMap((text) => text.split(' '))) + GAP;
  return Math.max(widest, Math.min(FLEXIBLE_MIN, widestOf(texts) + GAP));
}

/** There may be more of them than a call takes arguments. */
function widestOf(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, lengthOf(text)), 0);
}

/** How many columns can stand beside each other: all, where the last one can be made narrow enough. */
function fittingOf(natural: readonly number[], last: number, width: number): number {
  const sum = (count: number): number => natural.slice(0, count).reduce((all, one) => all + one, 0);
  if (sum(natural.length - 1) + last <= width) return natural.length;
  const fits = natural.findLastIndex((_, i) => i < natural.length - 1 && sum(i + 1) - GAP <= width);
  return Math.max(1, fits + 1);
}

/** Undefined where all may be as wide as they are. */
function widthsOf(natural: readonly number[], width: number | undefined): readonly number[] | undefined {
  const fixed = natural.slice(0, -1).reduce((sum, length) => sum + length, 0);
  if (width === undefined || fixed + (natural.at(-1) as number) <= width) return undefined;
  return [...natural.slice(0, -1), width - fixed];
}

/** The lines of a table whose columns are so wide; as many as there are rows where none is wrapped. */
function grid(
  columns: readonly Column[],
  rows: readonly string[][],
  widths: readonly number[],
  isWrapped: boolean,
): string[] {
  const lines: string[] = [];
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const table = new Table({
      chars: BORDERLESS,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
      colAligns: columns.map(({ align = 'left' }) => align),
      colWidths: widths.slice(0, columns.length),
      ...(isWrapped && { wordWrap: true, wrapOnWordBoundary: true }),
    });
    table.push(...rows.slice(at, at + ROWS_AT_ONCE).map((row) => row.slice(0, columns.length)));
    lines.push(...table.toString().split('\n'));
  }
  return lines;
}
