/**
 * Writes the golden ledger of the facts that a branch inherits, once:
 * `node tests/golden/make-inherited.ts`. The ledger is an addition to version 1. The other ledgers
 * of version 1 stay unchanged. No ledger is ever overwritten.
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
  const begun = last(/"inherit":/);
  const text = last(/"value":"penicillin"/);
  return [
    ['honest', {}],
    ['a row that began after that', swapped(begun, /("until":"2026-03-23T)09/, '$108')],
    ['a version that does not follow', swapped(begun, '"version":5}', '"version":6}')],
    ['a member that is not known', swapped(begun, '"inherit":{', '"inherit":{"from":1,')],
    [
      'an audit row taken over',
      swapped(begun, /("inherit":.*)"row_kind":"current"/, '$1"row_kind":"audit"'),
    ],
    ['a row without its entry', swapped(begun, /"entry_id":"[0-9a-f]*",/, '')],
    ['a text without salt', swapped(begun, /("inherit":.*"object":\{[^}]*),"salted":true/, '$1')],
    ['a row closed that is not there', swapped(begun, /("close":\[\{"fact_id":")q/, '$1x')],
    [
      'a text that says something else',
      { lines: { [text]: [(lines[text - 1] as string).replace('penicillin', 'aspirin')] } },
    ],
    ['a text lost', { lines: { [text]: [] } }],
  ];
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const { ledger } = beliefCases().find(({ name }) => name === 'what a branch begins with') as {
  readonly ledger: Ledger;
};
const store = new MemoryStore();
await importLines(store, each(linesOf(ledger).trimEnd().split('\n')));
await writeLedger('inherited', store, changesOf);
