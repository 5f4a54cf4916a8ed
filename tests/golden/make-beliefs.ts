/**
 * Writes the golden ledger of fact changes in commits, once: `node tests/golden/make-beliefs.ts`.
 * The ledger is an addition to version 1. The other ledgers of version 1 stay unchanged. No ledger
 * is ever overwritten.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashText } from '#canon';
import { importLines, integrateLog } from '#ledger';
import { signerKey } from '#merkle';
import { makeCheckpoint } from '#runtime';
import { MemoryStore } from '#stores';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import { type Ledger, linesOf } from '../support/ledger/erasure-cases.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { type Change, type Golden, V1, verdictsOf } from './ledger.ts';

const FILE = 'beliefs.jsonl';

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lines.findLastIndex((line) => pattern.test(line)) + 1;
  const rehashed = (line: number, from: RegExp | string, to: string): Change => {
    const payload = (lines[line - 1] as string).slice(83, -1);
    const other = payload.replace(from, to);
    if (other === payload) throw new Error(`line ${line} has no ${from}`);
    return { lines: { [line]: [`{"id":"${hashText(other)}","payload":${other}}`] } };
  };
  const contested = last(/audit::a::0/);
  const approved = last(/"counselor".*"beliefs":\[\{/);
  const text = last(/"value":"nuts"/);
  return [
    ['honest', {}],
    [
      'a strategy that is none',
      rehashed(contested, '"resolution_strategy_id":"lww"', '"resolution_strategy_id":"first"'),
    ],
    ['a member that is not known', rehashed(contested, '"version":2}', '"version":2,"versions":2}')],
    ['a current row with a resolution', rehashed(contested, '"resolution_id":null', '"resolution_id":"r"')],
    ['a partition without salt', rehashed(contested, /("partition":\{[^}]*),"salted":true/, '$1')],
    ['an audit row with another id', rehashed(contested, '"fact_id":"audit::a::0"', '"fact_id":"of-audit::a::0"')],
    [
      'a change before its entry',
      rehashed(approved, /"system_time":"2026-03-23T09:03/, '"system_time":"2026-03-23T08:03'),
    ],
    ['a text that says something else', { lines: { [text]: [(lines[text - 1] as string).replace('nuts', 'milk')] } }],
    ['a text lost', { lines: { [text]: [] } }],
  ];
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

if (existsSync(join(V1, FILE))) throw new Error(`${FILE} is there, and is never written over.`);
const { ledger } = beliefCases().find(({ name }) => name === 'an object erased') as { readonly ledger: Ledger };
const lines = linesOf(ledger).trimEnd().split('\n');
const store = new MemoryStore();
await importLines(store, each(lines));
await integrateLog(store);
writeFileSync(join(V1, FILE), `${lines.join('\n')}\n`);
const signer = signerKey('example.com/golden', 'note', keysOf(31).privateKey);
writeFileSync(join(V1, `${FILE}.checkpoint`), (await makeCheckpoint(store, { signer })).signed);
const golden: Golden[] = [];
for (const [name, change] of changesOf(lines))
  golden.push({ name, of: FILE, change, ...(await verdictsOf(FILE, change)) });
writeFileSync(join(V1, 'beliefs.json'), `${JSON.stringify(golden, null, 1)}\n`);
for (const { name, verify, export: line, checkpoint } of golden) {
  const faults = verify.flatMap(({ trajectory_id, fault }) =>
    fault ? [`${trajectory_id} ${fault.seq} ${fault.code}`] : [],
  );
  console.log(`${name}: ${faults.join(', ') || 'valid'}; export ${line ?? 'whole'}; checkpoint ${checkpoint}`);
}
