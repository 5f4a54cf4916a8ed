import { isInstance } from 'assize/internal/base';
import { hashText, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type BlobRow,
  Chain,
  checkRow,
  type Entry,
  type EntryRow,
  type ErasedRow,
  erasableHashesOf,
  erasureArgs,
  type Hash,
  isBlobRef,
  isErasure,
  LedgerFault,
  type Payload,
  readLine,
  referencesOf,
  writParent,
  writsNamedBy,
} from 'assize/internal/ledger';
import { Frontier, leafHash } from 'assize/internal/merkle';
import { ExportError } from './errors.ts';

/** One entry of an export, with its values. */
export interface ExportedEntry {
  readonly row: EntryRow;
  readonly entry: Entry;
  /** Blobs that no earlier entry needed. */
  readonly blobs: readonly BlobRow[];
  /** Erased blobs that no earlier entry named. */
  readonly erased: readonly ErasedRow[];
}

/**
 * Reads the lines of an export and checks everything that needs no fold. Checked are form, ids,
 * hashes, every trajectory's chain, and that each referenced blob precedes its entry. At the end,
 * the entry count and the root of the log are checked. `verify` checks the folds. `blobUnitsMax`:
 * maximum number of UTF-16 units of all blobs before one entry; default 536,870,912.
 *
 * @throws ExportError `bad_export` with the line
 */
export async function* readExport(
  lines: AsyncIterable<string>,
  blobUnitsMax?: number,
): AsyncGenerator<ExportedEntry> {
  const reader = new ExportReader(blobUnitsMax);
  for await (const line of lines) {
    const read = reader.take(line);
    if (read !== undefined) yield read;
  }
  reader.end();
}

/**
 * Limits on the lines before one entry. They stay in memory until that entry. Without limits an
 * export could exhaust the memory. The text limit allows two whole states, and an entry starts with
 * at most one; an importer can raise it. The count limit allows four times the blobs that a 1 MiB
 * entry can name.
 */
const NEEDED_UNITS_MAX = 2 * WORLD_LIMITS.bytesMax;
const NEEDED_MAX = 65_536;

/** The units of a blob's line before and around its text. */
const BLOB_START = '{"blob":';
const BLOB_FRAME = BLOB_START.length + ',"hash":""}'.length + 64;

/** Reads an export line by line. A refused line leaves the reader unchanged. */
export class ExportReader {
  readonly #frontier = new Frontier();
  readonly #chains: Map<string, Chain> = new Map();
  readonly #known: Set<Hash> = new Set();
  /** Blobs for the next entry, in line order. */
  #needed: (BlobRow | ErasedRow)[] = [];
  #neededUnits = 0;
  readonly #neededUnitsMax: number;
  /** Entries that must follow because they erase a blob, with the blobs to erase. */
  readonly #erasers: Map<Hash, Set<Hash>> = new Map();
  /** The number of the next line. */
  #line = 1;
  #ended = false;

  /** `neededUnitsMax`: maximum number of UTF-16 units of all blobs before one entry. */
  constructor(neededUnitsMax: number = NEEDED_UNITS_MAX) {
    this.#neededUnitsMax = neededUnitsMax;
  }

  /** @throws ExportError */
  take(text: string): ExportedEntry | undefined {
    const read = this.#take(text);
    this.#line++;
    return read;
  }

  #take(text: string): ExportedEntry | undefined {
    if (this.#ended) throw this.#bad('a line follows the trailer');
    // Parsing takes longer than all else, so the limit comes first.
    if (typeof text === 'string' && text.startsWith(BLOB_START))
      this.#checkNeeded(text.length - BLOB_FRAME);
    const line = readLine(text);
    if (typeof line === 'string') throw this.#bad(line);
    if ((line.type === 'header') !== (this.#line === 1)) {
      throw this.#bad(
        this.#line === 1
          ? 'an export must start with its format'
          : 'a header is only allowed in the first line',
      );
    }
    switch (line.type) {
      case 'header':
        return undefined;
      case 'blob':
        if (hashText(line.blob.text) !== line.blob.hash)
          throw this.#bad(`the blob does not hash to ${line.blob.hash}`);
        this.#takeNeeded(line.blob);
        return undefined;
      case 'erased':
        this.#takeNeeded(line.erased);
        this.#noteEraser(line.erased);
        return undefined;
      case 'entry':
        return this.#takeEntry(line.row);
      case 'trailer':
        this.#takeTrailer(line.entries, line.root);
        return undefined;
    }
  }

  /** @throws ExportError if the trailer is missing */
  end(): void {
    if (!this.#ended) throw this.#bad('the export has no trailer, so its end is missing');
  }

  #takeNeeded(row: BlobRow | ErasedRow): void {
    if (this.#known.has(row.hash)) throw this.#bad(`the blob ${row.hash} occurs twice`);
    if (this.#needed.length === NEEDED_MAX)
      throw this.#bad(`more than ${NEEDED_MAX} blobs precede one entry`);
    if ('text' in row) this.#neededUnits += row.text.length;
    this.#known.add(row.hash);
    this.#needed.push(row);
  }

  #checkNeeded(units: number): void {
    if (this.#neededUnits + units > this.#neededUnitsMax)
      throw this.#bad(`the blobs before one entry exceed ${this.#neededUnitsMax} characters`);
  }

  #noteEraser({ hash, by }: ErasedRow): void {
    const erased = this.#erasers.get(by) ?? new Set();
    this.#erasers.set(by, erased.add(hash));
  }

  #takeEntry(row: EntryRow): ExportedEntry {
    const entry = this.#accepted(row);
    const missing = referencesOf(entry.payload).find((hash) => !this.#known.has(hash));
    if (missing !== undefined)
      throw this.#bad(
        `${row.trajectory_id} seq ${row.seq} refers to ${missing}, which does not precede it`,
      );
    const blobs = this.#needed.filter((row) => 'text' in row);
    const erased = this.#needed.filter((row) => 'by' in row);
    const salted = new Set(erased.length === 0 ? [] : erasableHashesOf(entry.payload));
    const unsalted = erased.find(({ hash }) => !salted.has(hash));
    if (unsalted !== undefined)
      throw this.#bad(
        `the blob ${unsalted.hash} is marked as erased, but is not a salted value of the next entry`,
      );
    const needed = neededBy(
      entry.payload,
      new Map(this.#needed.map((row) => [row.hash, 'text' in row ? row.text : 'null'])),
    );
    const odd = this.#needed.find(({ hash }, i) => needed[i] !== hash);
    if (odd !== undefined) {
      throw this.#bad(
        `the blob ${odd.hash} precedes ${row.trajectory_id} seq ${row.seq}, which does not need it next`,
      );
    }
    this.#frontier.append([leafHash(row.payload)]);
    this.#needed = [];
    this.#neededUnits = 0;
    this.#checkErasing(row.id, entry.payload);
    return { row, entry, blobs, erased };
  }

  /**
   * Checks that an entry erases the blobs that name it as their eraser. `verify` checks arguments
   * stored in a blob.
   */
  #checkErasing(id: Hash, payload: Payload): void {
    const said = this.#erasers.get(id);
    if (said === undefined) return;
    this.#erasers.delete(id);
    const args = isErasure(payload) ? payload.action.args : undefined;
    if (isBlobRef(args)) return;
    const values = args === undefined ? [] : (erasureArgs(args)?.values ?? []);
    const names = new Set(values.map(({ hash }) => hash));
    const other = [...said].find((hash) => !names.has(hash));
    if (other !== undefined)
      throw this.#bad(
        `the blob ${other} is recorded as erased by this entry, which does not erase it`,
      );
  }

  #accepted(row: EntryRow): Entry {
    let chain = this.#chains.get(row.trajectory_id);
    if (chain === undefined) {
      chain = new Chain(row.trajectory_id);
      this.#chains.set(row.trajectory_id, chain);
    }
    try {
      const entry = checkRow(row);
      chain.accept(entry);
      return entry;
    } catch (error) {
      if (!isInstance(error, LedgerFault)) throw error;
      throw this.#bad(error.message, error);
    }
  }

  #takeTrailer(entries: number, root: string): void {
    if (this.#needed.length > 0) throw this.#bad('the last blob belongs to no entry');
    const [missing] = this.#erasers.keys();
    if (missing !== undefined)
      throw this.#bad(`the entry ${missing}, recorded as the erasure of a blob, is missing`);
    if (entries !== this.#frontier.size)
      throw this.#bad(
        `the export has ${this.#frontier.size} entries, and its trailer states ${entries}`,
      );
    const ours = Buffer.from(this.#frontier.root()).toString('hex');
    if (ours !== root)
      throw this.#bad(`the root of its entries is ${ours}, and its trailer states ${root}`);
    this.#ended = true;
  }

  #bad(what: string, cause?: unknown): ExportError {
    return new ExportError(
      'bad_export',
      `Line ${this.#line} of the export is not valid: ${what}.`,
      {
        evidence: { line: this.#line },
        cause,
      },
    );
  }
}

/** The given blobs that a payload needs, in export order. */
function neededBy(payload: Payload, blobs: ReadonlyMap<Hash, string>): Hash[] {
  const needed = new Set<Hash>();
  for (const hash of referencesOf(payload)) if (blobs.has(hash)) needed.add(hash);
  for (const id of writsNamedBy(payload)) {
    for (
      let next: Hash | undefined = id;
      next !== undefined && blobs.has(next) && !needed.has(next);
    ) {
      needed.add(next);
      next = writParent(blobs.get(next) as string);
    }
  }
  return [...needed];
}
