/**
 * Writes the golden ledger of fact changes in commits, once: `node tests/golden/make-beliefs.ts`.
 * The ledger is an addition to version 1. The other ledgers of version 1 stay unchanged. No ledger
 * is ever overwritten.
 */

import { MemoryStore } from '@assize/testing/memory';
import { importLines } from '#export';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import { type Ledger, linesOf } from '../support/ledger/erasure-cases.ts';
import type { Change } from './ledger.ts';
import { lastLine, rehashed, writeLedger } from './write-ledger.ts';

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lastLine(lines, pattern);
  const swapped = (line: number, from: RegExp | string, to: string): Change =>
    rehashed(lines, line, [from, to]);
  const contested = last(/audit::a::0/);
  const approved = last(/"counselor".*"beliefs":\[\{/);
  const text = last(/"value":"nuts"/);
  return [
    ['honest', {}],
    [
      'a strategy that is none',
      swapped(contested, '"resolution_strategy_id":"lww"', '"resolution_strategy_id":"first"'),
    ],
    ['a member that is not known', swapped(contested, '"version":2}', '"version":2,"versions":2}')],
    [
      'a current row with a resolution',
      swapped(contested, '"resolution_id":null', '"resolution_id":"r"'),
    ],
    ['a partition without salt', swapped(contested, /("partition":\{[^}]*),"salted":true/, '$1')],
    [
      'an audit row with another id',
      swapped(contested, '"fact_id":"audit::a::0"', '"fact_id":"of-audit::a::0"'),
    ],
    [
      'a change before its entry',
      swapped(approved, /"system_time":"2026-03-23T09:03/, '"system_time":"2026-03-23T08:03'),
    ],
    [
      'a text that says something else',
      { lines: { [text]: [(lines[text - 1] as string).replace('nuts', 'milk')] } },
    ],
    ['a text lost', { lines: { [text]: [] } }],
  ];
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const { ledger } = beliefCases().find(({ name }) => name === 'an object erased') as {
  readonly ledger: Ledger;
};
const store = new MemoryStore();
await importLines(store, each(linesOf(ledger).trimEnd().split('\n')));
await writeLedger('beliefs', store, changesOf);
