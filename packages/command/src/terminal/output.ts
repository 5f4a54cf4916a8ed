import { fstatSync, writeSync } from 'node:fs';
import { visibleJson } from 'assize/internal/views';
import Table from 'cli-table3';
import { bold, type Printable, printable, type Value } from './printable.ts';
import { lengthOf, wrapped } from './wrapped.ts';

/**
 * The reader has closed the pipe (`| head`). The rest of the work is only output, so it ends
 * silently.
 */
export class OutputClosed extends Error {}

/** The output, or the rest of it, can't be written. */
export class OutputUnwritable extends Error {
  constructor(cause: unknown) {
    super(`Cannot write the output: ${(cause as Error).message}.`, { cause });
  }
}

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * On a terminal that is too narrow, the column is absent, its times have no year and no seconds,
   * or its texts end with an ellipsis. Texts that are cut have no colors.
   */
  readonly narrow?: 'drop' | 'time' | 'cut';
}

const BORDERLESS = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((name) => [name, '']),
);

/** Minimum width of the last column when it is fitted to the terminal. */
const FLEXIBLE_MIN = 24;
/** Minimum width of a column that is cut. */
const CUT_MIN = 10;
/** The separator of two columns. */
const GAP = 2;
/** Maximum number of rows laid out together: the layout's time grows with their square. */
const ROWS_AT_ONCE = 200;
/** The indent of text below a row. */
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

  /** Whether the output is a terminal, where a large text would scroll away. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The maximum width of a line. Undefined if it is unknown. Some terminals report 0. */
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

  /**
   * A part of a long text, unchanged. Waits for a slower reader.
   * @throws OutputClosed, OutputUnwritable
   */
  async piece(text: string): Promise<void> {
    if (this.#write(text)) return;
    await new Promise((resolve) => {
      this.#stream.once('drain', resolve);
      this.#stream.once('error', resolve);
    });
    if (this.#closed) throw new OutputClosed();
  }

  /**
   * The last column gets the terminal's remaining width. If that is too little, the overflow is
   * printed below each row.
   * @throws OutputClosed, OutputUnwritable
   */
  table(given: readonly Column[], rows: readonly (readonly Value[])[]): void {
    const { width } = this;
    const texts = rows.map((row) => row.map((value) => printable(value).text));
    const { columns, cells } = fitColumns({ columns: given, cells: texts }, width);
    const head = headOf(columns);
    const natural = naturalOf({ columns, cells });
    const kept =
      width === undefined ? columns.length : fittingOf(natural, narrowest([head, ...cells]), width);
    const narrowed = kept < columns.length ? undefined : widthsOf(natural, width);
    const lines = grid(
      columns.slice(0, kept),
      [head, ...cells],
      narrowed ?? natural,
      narrowed !== undefined,
    );
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

  /** Returns false if the reader is slower. */
  #write(text: string): boolean {
    if (this.#closed) throw new OutputClosed();
    return writeTo(this.#stream, text);
  }
}

/** The method of standard output, while prints are diverted. */
let own: typeof process.stdout.write | undefined;

/**
 * From here on, all that given modules print on standard output goes to standard error. So the
 * standard output of `--json` is one document.
 */
export function divertPrints(): void {
  if (own !== undefined) return;
  own = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/** Called when the command has ended: another command of the process can have another output. */
export function restorePrints(): void {
  if (own === undefined) return;
  process.stdout.write = own;
  own = undefined;
}

/** Resolves when both streams have passed on all text, or can no longer do so. */
export async function flushed(): Promise<void> {
  const { stdout, stderr } = process;
  const write: (text: string, done: () => void) => boolean = (own ?? stdout.write).bind(stdout);
  await new Promise<void>((resolve) => void write('', resolve));
  await new Promise<void>((resolve) => stderr.write('', () => resolve()));
}

/**
 * Writes a complete text. A file is written without the stream: a stream writes once and reports a
 * partial write as complete. Returns false if the reader is slower.
 *
 * @throws OutputUnwritable
 */
export function writeTo(stream: NodeJS.WriteStream, text: string): boolean {
  const file = fileOf(stream);
  if (file === undefined)
    return stream === process.stdout && own !== undefined
      ? own.call(stream, text)
      : stream.write(text);
  writeWhole(file, text);
  return true;
}

function fileOf({ fd }: NodeJS.WriteStream & { readonly fd?: number }): number | undefined {
  return fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
}

/** A full disk accepts the part that fits, and refuses only the next write. */
function writeWhole(file: number, text: string): void {
  try {
    for (let rest = Buffer.from(text); rest.length > 0; )
      rest = rest.subarray(writeSync(file, rest));
  } catch (cause) {
    throw new OutputUnwritable(cause);
  }
}

/** The texts of a table, without its head. */
interface Texts {
  readonly columns: readonly Column[];
  readonly cells: readonly (readonly string[])[];
}

function headOf(columns: readonly Column[]): string[] {
  return columns.map(({ title }) => bold(title).text);
}

/** The widths of columns whose texts are complete. */
function naturalOf({ columns, cells }: Texts): number[] {
  const rows = [headOf(columns), ...cells];
  return columns.map((_, i) => widestOf(rows.map((row) => row[i] as string)) + GAP);
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0);
}

/** The table in less width, as its columns allow it, if it does not fit. */
function fitColumns(table: Texts, width: number | undefined): Texts {
  if (width === undefined || sumOf(naturalOf(table)) <= width) return table;
  const kept = table.columns.flatMap(({ narrow }, i) => (narrow === 'drop' ? [] : [i]));
  const columns = kept.map((i) => table.columns[i] as Column);
  const cells = table.cells.map((row) =>
    kept.map((i) => {
      const text = row[i] as string;
      if (table.columns[i]?.narrow !== 'time') return text;
      return text.replace(/^\d{4}-(\d\d-\d\d)T(\d\d:\d\d):\d\dZ$/, '$1 $2');
    }),
  );
  const widths = naturalOf({ columns, cells });
  for (let over = sumOf(widths) - width; over > 0; over--) {
    const widest = Math.max(
      ...widths.map((one, i) => (columns[i]?.narrow === 'cut' ? one : CUT_MIN)),
    );
    if (widest <= CUT_MIN) break;
    const at = widths.findIndex((one, i) => one === widest && columns[i]?.narrow === 'cut');
    widths[at] = widest - 1;
  }
  const cut = (text: string, i: number): string => {
    const most = (widths[i] as number) - GAP;
    return columns[i]?.narrow === 'cut' && text.length > most
      ? `${text.slice(0, most - 1)}…`
      : text;
  };
  return { columns, cells: cells.map((row) => row.map(cut)) };
}

/** The minimum width of the last column that cuts no word. */
function narrowest(rows: readonly (readonly string[])[]): number {
  const texts = rows.map((row) => row.at(-1) as string);
  const widest = widestOf(texts.flatMap((text) => text.split(' '))) + GAP;
  return Math.max(widest, Math.min(FLEXIBLE_MIN, widestOf(texts) + GAP));
}

/** There may be more rows than a call accepts arguments. */
function widestOf(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, lengthOf(text)), 0);
}

/** The number of columns that fit on one line: all, if the last one can be narrow enough. */
function fittingOf(natural: readonly number[], last: number, width: number): number {
  const sum = (count: number): number => natural.slice(0, count).reduce((all, one) => all + one, 0);
  if (sum(natural.length - 1) + last <= width) return natural.length;
  const fits = natural.findLastIndex((_, i) => i < natural.length - 1 && sum(i + 1) - GAP <= width);
  return Math.max(1, fits + 1);
}

/** Undefined if every column can have its full width. */
function widthsOf(
  natural: readonly number[],
  width: number | undefined,
): readonly number[] | undefined {
  const fixed = natural.slice(0, -1).reduce((sum, length) => sum + length, 0);
  if (width === undefined || fixed + (natural.at(-1) as number) <= width) return undefined;
  return [...natural.slice(0, -1), width - fixed];
}

/**
 * The lines of a table with the given column widths. Without wrapping, there is one line per row.
 */
function grid(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
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
