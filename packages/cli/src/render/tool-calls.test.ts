import { Output } from '@assize/command';
import type { Json } from 'assize/internal/base';
import { canonicalize, hashText } from 'assize/internal/canon';
import type { Delta, LedgerStore } from 'assize/internal/ledger';
import { toolCalls } from 'assize/internal/views';
import { expect, test } from 'vitest';
import { printCalls } from './tool-calls.ts';

const CLASS = { delivery: 'buffered', reversibility: 'irreversible', sink: 'keyed' };

/**
 * The changes of a proposal with these effects, and a store with their blobs. The store lacks the
 * blob of an undefined effect.
 */
function putUp(made: readonly (Json | undefined)[]): [LedgerStore, Pick<Delta, 'effects'>] {
  const texts = new Map<string, string>();
  const effects = made.map((value, i) => {
    const text = canonicalize({ salt: `${i}`, value: value ?? null });
    if (value !== undefined) texts.set(hashText(text), text);
    return { id: `${i}`, effect: { $blob: hashText(text), bytes: text.length, salted: true } };
  });
  const store = { blob: async (hash: string) => texts.get(hash), erasedBy: async () => undefined };
  return [store as never, { effects }];
}

const call = (input: Json, more: { readonly [name: string]: Json } = { class: CLASS }): Json => ({
  ...more,
  claims: [{ access: 'write', scope: 'mail:bob' }],
  cost: {},
  input,
  tool: 'mail.send',
});

function printed(calls: Parameters<typeof printCalls>[3]): string[] {
  let text = '';
  const stream = { on: () => undefined, write: (piece: string) => (text += piece) };
  printCalls(new Output(stream as never), 'ab'.repeat(32), 'would call', calls);
  return text.split('\n').slice(0, -1);
}

test('calls submitted by earlier versions have no class', async () => {
  const calls = await toolCalls(...putUp([call({ to: 'bob' }, {})]));
  expect(calls).toEqual([
    {
      id: '0',
      tool: 'mail.send',
      scopes: [{ access: 'write', scope: 'mail:bob' }],
      input: { to: 'bob' },
    },
  ]);
  expect(printed(calls)).toEqual([
    'would call mail.send, which writes mail:bob',
    '  with {"to":"bob"}',
  ]);
});

test.each<[string, Json | undefined]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'mail.send'],
  ['no tool', { claims: [], cost: {}, input: 1 }],
  ['no scopes', { tool: 'x', cost: {}, input: 1 }],
  ['no input', { tool: 'x', cost: {}, claims: [] }],
])('a call with %s is reported as missing', async (_, made) => {
  const calls = await toolCalls(...putUp([made]));
  expect(calls).toEqual([{ id: '0', missing: true }]);
  expect(printed(calls)).toEqual(['would call a call that the store does not have']);
});

test('of many calls the first are listed, and the rest is counted', async () => {
  const calls = await toolCalls(...putUp(Array.from({ length: 30 }, (_, i) => call(i))));
  expect(calls).toHaveLength(30);
  const lines = printed(calls);
  expect(lines).toHaveLength(41);
  expect(lines.at(-1)).toBe('and 10 more calls; assize show abababababab --blobs shows them');
});
