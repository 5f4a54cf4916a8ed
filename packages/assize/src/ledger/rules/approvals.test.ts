import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { APPROVALS_MAX as OF_DOMAINS } from '#kernel';
import { approvalCases } from '../../../../../tests/support/ledger/approval-cases.ts';
import {
  linesOf,
  readable,
  verdictsOf,
} from '../../../../../tests/support/ledger/erasure-cases.ts';
import { APPROVALS_MAX } from '../entry/approvals-max.ts';
import { integrateLog } from '../index.ts';

const cases = approvalCases();

test.each(cases)('$name: $verdict', async ({ ledger, verdict }) => {
  expect(await verdictsOf(ledger)).toEqual({ t: verdict });
});

test('a valid ledger passes through an export unchanged', async () => {
  const valid = cases.filter(({ verdict }) => verdict === 'valid');
  expect(valid.length).toBeGreaterThan(5);
  for (const { name, ledger } of valid) {
    const text = linesOf(ledger);
    expect([name, await readable(ledger)]).toEqual([name, true]);
    const store = new MemoryStore();
    await importLines(store, lines(text));
    await integrateLog(store);
    let again = '';
    for await (const line of exportLines(store)) again += line;
    expect(again).toBe(text);
  }
});

test('a domain asks for no more approvals than an entry can have', () => {
  expect(OF_DOMAINS).toBe(APPROVALS_MAX);
});

async function* lines(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}
