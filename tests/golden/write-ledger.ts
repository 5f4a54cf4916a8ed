/** Writes a golden ledger once: the export, its checkpoint and the verdict on each change of it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryStore } from '@assize/testing/memory';
import { hashText } from '#canon';
import { makeCheckpoint } from '#checkpoints';
import { exportLines } from '#export';
import { entryRow, integrateLog } from '#ledger';
import { signerKey } from '#merkle';
import { keysOf } from '../support/ledger/rows.ts';
import { type Change, type Golden, V1, verdictsOf } from './ledger.ts';

/** A replacement in the text of a payload. */
export type Swap = readonly [from: RegExp | string, to: string];

/**
 * Writes `name.jsonl`, `name.jsonl.checkpoint` and `name.json`, and prints each verdict. An old
 * ledger is an error: no ledger is ever overwritten.
 */
export async function writeLedger(
  name: string,
  store: MemoryStore,
  changesOf: (lines: readonly string[]) => readonly (readonly [string, Change])[],
): Promise<void> {
  const file = `${name}.jsonl`;
  if (existsSync(join(V1, file))) throw new Error(`${file} is there, and is never written over.`);
  await integrateLog(store);
  const lines: string[] = [];
  for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
  writeFileSync(join(V1, file), `${lines.join('\n')}\n`);
  const signer = signerKey('example.com/golden', 'note', keysOf(31).privateKey);
  writeFileSync(join(V1, `${file}.checkpoint`), (await makeCheckpoint(store, { signer })).signed);
  await writeVerdicts(`${name}.json`, file, changesOf(lines));
}

/** Writes the verdict of this version on each change of the ledger `of`, and prints it. */
export async function writeVerdicts(
  file: string,
  of: string,
  changes: readonly (readonly [string, Change])[],
): Promise<void> {
  const golden: Golden[] = [];
  for (const [name, change] of changes)
    golden.push({ name, of, change, ...(await verdictsOf(of, change)) });
  writeFileSync(join(V1, file), `${JSON.stringify(golden, null, 1)}\n`);
  for (const { name, verify, export: line, checkpoint } of golden) {
    const faults = verify.flatMap(({ trajectory_id, fault }) =>
      fault ? [`${trajectory_id} ${fault.seq} ${fault.code}`] : [],
    );
    console.log(
      `${name}: ${faults.join(', ') || 'valid'}; export ${line ?? 'whole'}; checkpoint ${checkpoint}`,
    );
  }
}

/** The number of the last line that the pattern fits, counted from 1; 0: none. */
export function lastLine(lines: readonly string[], pattern: RegExp): number {
  return lines.findLastIndex((line) => pattern.test(line)) + 1;
}

/** The key of the golden entries. */
const ENTRIES = keysOf(21);

/** A change of the entry in a line, under the id of the changed payload; signed, if it was. */
export function rehashed(
  lines: readonly string[],
  line: number,
  ...swaps: readonly Swap[]
): Change {
  const signed = (lines[line - 1] as string).slice(83, -1);
  let payload = signed.replace(/,"signature":\{[^}]*\}/, '');
  const isSigned = payload !== signed;
  for (const [from, to] of swaps) {
    const other = payload.replace(from, to);
    if (other === payload) throw new Error(`line ${line} has no ${from}`);
    payload = other;
  }
  const row = isSigned
    ? entryRow(JSON.parse(payload), ENTRIES)
    : { id: hashText(payload), payload };
  return { lines: { [line]: [`{"id":"${row.id}","payload":${row.payload}}`] } };
}
