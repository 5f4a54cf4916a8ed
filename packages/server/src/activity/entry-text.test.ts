import { summaryOf } from 'assize/internal/views';
import { expect, test } from 'vitest';
import {
  ChainWriter,
  commitMembers,
  pendingMembers,
  rejectionMembers,
  rootMembers,
} from '../../../../tests/support/ledger/rows.ts';
import { settlementCases } from '../../../../tests/support/ledger/settlement-cases.ts';
import { mayMatch, textsOf } from './entry-text.ts';

const role = { name: 'Clerk "A"', params: { desk: 'Desk "Z"\\9' } };

/** Entries of every kind with a ruling, with texts that JSON escapes, and a damaged one. */
async function rowsOfAllKinds() {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  writer.add('commit', commitMembers([], { action: { name: 'Pay', role, args: {} } }));
  const args = { cents: 5, to: 'A "B"\n\\', why: 'ab'.repeat(60) };
  writer.add('commit', commitMembers([], { action: { name: 'Pay', role, args } }));
  const over = { principal: 'boss', as: 'md', method: 'test', override: true };
  const overridden = [{ invariant_id: 'OVER "S"', result: 'reject', detail: 'too much' }];
  const decided = { resolves: writer.rows.at(-1)!.id, counselor: { ...over, overridden } };
  writer.add('commit', commitMembers([], { action: { name: 'Pay', role, args: {} }, ...decided }));
  writer.add(
    'rejection',
    rejectionMembers({ detail: 'Two\nlines, "quoted", ΣΑΣ', invariant_id: 'MAX\\SUM' }),
  );
  writer.add('pending_approval', pendingMembers({}, { detail: 'more than 1,000 €' }));
  const settled = (await settlementCases[0]!.make()).entries('t');
  return [...writer.rows, ...(await settled), { ...writer.rows[1]!, payload: '{' }];
}

test('no entry with a matching summary is left out', async () => {
  const rows = await rowsOfAllKinds();
  const summaries = rows.map((row) => summaryOf(row));
  expect(summaries.flatMap(textsOf)).toEqual(
    expect.arrayContaining(['override', 'OVER "S"', role.params.desk]),
  );
  const parts = summaries
    .flatMap(textsOf)
    .flatMap((text) => [text, text.slice(3), text.slice(1, 6), text.slice(12, 22), text.slice(-4)]);
  expect(new Set(parts).size).toBeGreaterThan(30);
  for (const part of parts.map((text) => text.toLowerCase()).filter((text) => text !== ''))
    for (const [n, summary] of summaries.entries()) {
      const { ruling } = summary;
      if (!textsOf(summary).some((text) => text.toLowerCase().includes(part))) continue;
      expect(
        mayMatch(ruling === 'unreadable' ? undefined : ruling, part)(rows[n]!),
        `${part} in ${ruling}`,
      ).toBe(true);
    }
});

test('an entry of another ruling, or without the text, is passed over', async () => {
  const [, commit, , , rejection] = await rowsOfAllKinds();
  expect(mayMatch('rejected', undefined)(commit!)).toBe(false);
  expect(mayMatch('rejected', undefined)(rejection!)).toBe(true);
  expect(mayMatch(undefined, 'nowhere')(commit!)).toBe(false);
});
