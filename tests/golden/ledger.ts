/**
 * A golden ledger: the lines of an export, some of them changed, and the verdict that every version
 * must return.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { ExportError, importLines, readExport } from '#export';
import {
  type BlobRow,
  compareWithHead,
  type EntryRow,
  type ErasedRow,
  integrateLog,
  Replayer,
  verifyTrajectory,
} from '#ledger';
import { parseCheckpoint, parseNote } from '#merkle';
import { verifyStore } from '#runtime';
import { RowsReader } from '../support/ledger/rows.ts';

export const V1: string = join(import.meta.dirname, 'v1');

/**
 * The content of `facts.sqlite`: a corrected fact with the object `text`, and one vector for each
 * text.
 */
export const FACTS = {
  space: 'ward',
  text: 'penicillin',
  embedder: 'golden',
  vector: new Float32Array([3, 4]),
} as const;

/** Changes of an export, by its lines, counted from 1. */
export interface Change {
  /** Other text in the place of a line; none: the line is gone. */
  readonly lines?: { readonly [line: string]: readonly string[] };
  /** The first so many lines, and nothing after them. */
  readonly cut?: number;
}

/** The verdict on one trajectory. */
export interface Verdict {
  readonly trajectory_id: string;
  readonly entries: number;
  /** The last entry that was accepted. */
  readonly head: string | null;
  readonly erased: number;
  readonly fault?: { readonly seq: number; readonly code: string };
}

export interface Golden {
  readonly name: string;
  /** The file with the changed lines. */
  readonly of: string;
  readonly change: Change;
  readonly verify: readonly Verdict[];
  /** The line at which reading the export ends, or `null` where it is whole. */
  readonly export: number | null;
  /** Against the checkpoint of the file, if the export can be read: `ok`, `behind` or `apart`. */
  readonly checkpoint: string | null;
}

export function linesOf(file: string): string[] {
  return readFileSync(join(V1, file), 'utf8').trimEnd().split('\n');
}

export function changed(
  lines: readonly string[],
  { lines: others = {}, cut = lines.length }: Change,
): string[] {
  return lines.slice(0, cut).flatMap((line, i) => others[String(i + 1)] ?? [line]);
}

/** The verdict of this version. */
export async function verdictsOf(
  of: string,
  change: Change,
): Promise<Pick<Golden, 'verify' | 'export' | 'checkpoint'>> {
  const lines = changed(linesOf(of), change);
  const readTo = await lineOfFault(lines);
  return {
    verify: await verified(lines),
    export: readTo,
    checkpoint: readTo === null ? await standing(lines, of) : null,
  };
}

/** The rows as a database would have them, with any content, verified trajectory by trajectory. */
async function verified(lines: readonly string[]): Promise<Verdict[]> {
  const [entries, blobs, erased]: [EntryRow[], BlobRow[], ErasedRow[]] = [[], [], []];
  for (const text of lines) {
    const line = JSON.parse(text) as { readonly [name: string]: unknown };
    if ('id' in line) entries.push(rowOf(text, line['id'] as string, line['payload'] as EntryRow));
    else if ('blob' in line)
      blobs.push({
        hash: line['hash'] as string,
        text: text.slice('{"blob":'.length, -',"hash":""}'.length - 64),
      });
    else if ('erased' in line)
      erased.push({ hash: line['erased'] as string, by: line['by'] as string });
  }
  const replayer = new Replayer(new RowsReader(entries, blobs, erased));
  const names = [...new Set(entries.map(({ trajectory_id }) => trajectory_id))];
  const reports = [];
  for (const name of names) reports.push(await verifyTrajectory(replayer, name));
  return reports.map(({ trajectory_id, entries, head, erased, fault }) => ({
    trajectory_id,
    entries,
    head,
    erased,
    ...(fault && { fault: { seq: fault.seq, code: fault.code } }),
  }));
}

function rowOf(text: string, id: string, { trajectory_id, parent, seq, kind }: EntryRow): EntryRow {
  return {
    id,
    trajectory_id,
    parent,
    seq,
    kind,
    payload: text.slice(`{"id":"${id}","payload":`.length, -1),
  };
}

async function lineOfFault(lines: readonly string[]): Promise<number | null> {
  try {
    for await (const _ of readExport(each(lines)));
    return null;
  } catch (error) {
    if (error instanceof ExportError) return error.evidence['line'] as number;
    throw error;
  }
}

async function standing(lines: readonly string[], of: string): Promise<string> {
  const store = new MemoryStore();
  await importLines(store, each(lines));
  await integrateLog(store);
  // Into a store of ours, it is also what the runtime says of it that counts.
  for (const { valid } of await verifyStore(store)) if (!valid) return 'invalid';
  const note = parseNote(readFileSync(join(V1, `${of}.checkpoint`), 'utf8'));
  return (await compareWithHead(store, parseCheckpoint(note.text))).stands;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
