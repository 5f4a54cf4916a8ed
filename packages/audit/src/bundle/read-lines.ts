import { isInstance, type Json } from 'assize/internal/base';
import { DEFAULT_LIMITS, hashText } from 'assize/internal/canon';
import {
  checkRow,
  type Hash,
  isHash,
  isPayload,
  LedgerFault,
  type Payload,
} from 'assize/internal/ledger';
import { BundleRefusal, must } from './fault.ts';
import { type BundledEntry, type BundledValue, hasJust } from './form.ts';
import { newValues } from './lines.ts';
import { canonical } from './read-files.ts';

/** The content of `entries.jsonl`. */
export interface ReadLines {
  readonly entries: readonly BundledEntry[];
  /** In the order of their lines. */
  readonly values: ReadonlyMap<Hash, BundledValue>;
}

type Line =
  | { readonly hash: Hash; readonly value: BundledValue }
  | { readonly id: Hash; readonly index: number; readonly text: string };

/**
 * Reads the lines: each is canonical, each value has the hash that it is named by and the place
 * that it must have, and each entry is valid by itself.
 *
 * @throws BundleRefusal
 */
export function readLines(text: string): ReadLines {
  must(text.endsWith('\n'), 'bad_form', 'entries.jsonl does not end with a newline');
  const lines = text.slice(0, -1).split('\n').map(readLine);
  const values = new Map<Hash, BundledValue>();
  for (const line of lines) {
    if (!('hash' in line)) continue;
    must(!values.has(line.hash), 'bad_form', `a value stands twice: ${line.hash}`);
    values.set(line.hash, line.value);
  }
  must(
    lines.length > 0 && 'id' in (lines.at(-1) as Line),
    'bad_form',
    'entries.jsonl does not end with an entry',
  );
  return { entries: placed(lines, values), values };
}

/** The entries, each after the values that no line before it had. */
function placed(lines: readonly Line[], values: ReadonlyMap<Hash, BundledValue>): BundledEntry[] {
  const entries: BundledEntry[] = [];
  const stood = new Set<Hash>();
  let before: Hash[] = [];
  for (const line of lines) {
    if ('hash' in line) {
      before.push(line.hash);
      continue;
    }
    const entry = readEntry(line);
    const last = entries.at(-1);
    must(
      last === undefined || last.index < entry.index,
      'bad_form',
      `${entry.id} is not in the order of the log`,
    );
    const needed = [...newValues(entry.payload, (hash) => values.get(hash), stood)];
    const absent = needed.find(([, value]) => value === undefined);
    must(absent === undefined, 'bad_entry', `the value ${absent?.[0]} of ${entry.id} is missing`);
    const isPlaced =
      needed.length === before.length && needed.every(([hash], i) => hash === before[i]);
    must(
      isPlaced,
      'bad_form',
      `the values before ${entry.id} are not those that it is the first to need`,
    );
    entries.push(entry);
    before = [];
  }
  return entries;
}

function readEntry({ id, index, text }: Extract<Line, { readonly id: Hash }>): BundledEntry {
  const payload = canonical(text);
  must(isPayload(payload), 'bad_entry', `the payload of ${id} is not of the form of an entry`);
  const { trajectory_id, parent, seq, kind } = payload as Payload;
  try {
    checkRow({ id, trajectory_id, parent, seq, kind, payload: text });
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    throw new BundleRefusal('bad_entry', `${id}: ${error.message}`);
  }
  return { id, index, text, payload: payload as Payload };
}

const LINE_DEPTH = DEFAULT_LIMITS.depthMax + 1;

function readLine(text: string, i: number): Line {
  const wrong = `line ${i + 1} of entries.jsonl is`;
  const value = canonical(text, LINE_DEPTH);
  must(value !== undefined, 'bad_form', `${wrong} not canonical JSON`);
  const line = value as { readonly [name: string]: Json };
  if (hasJust(line, ['id', 'index', 'payload'])) {
    const { id, index } = line;
    must(isHash(id) && isPosition(index), 'bad_form', `${wrong} not that of an entry`);
    return { id, index, text: text.slice(`{"id":"${id}","index":${index},"payload":`.length, -1) };
  }
  if (hasJust(line, ['by', 'erased'])) {
    const { by, erased } = line;
    must(isHash(by) && isHash(erased), 'bad_form', `${wrong} not that of an erased value`);
    return { hash: erased, value: { by } };
  }
  must(
    hasJust(line, ['blob', 'hash']) && isHash(line['hash']),
    'bad_form',
    `${wrong} of an unknown form`,
  );
  const { hash } = line as { readonly hash: Hash };
  const blob = text.slice('{"blob":'.length, -`,"hash":"${hash}"}`.length);
  must(hashText(blob) === hash, 'bad_entry', `the value ${hash} does not hash to its name`);
  return { hash, value: { text: blob } };
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
