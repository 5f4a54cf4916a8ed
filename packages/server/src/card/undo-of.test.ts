import { expect, test } from 'vitest';
import { undoOf } from './undo-of.ts';

const call = (reversibility: string) => ({
  ...{ tool: 'bank.pay', input: {} },
  class: { reversibility, delivery: 'buffered', sink: 'keyed' },
});
const undo = (...classes: readonly string[]) =>
  undoOf({ tools: classes.map(call) as never, changes: [] }, undefined);

test.each<[string, readonly string[], object | undefined]>([
  ['no call', [], undefined],
  ['a reversible call', ['reversible'], { can: true, by: 'hand' }],
  ['a call that is undone at a cost', ['with_cost'], { can: true, by: 'hand' }],
  ['an irreversible call', ['irreversible'], { can: false }],
  ['one of two', ['irreversible', 'reversible'], { can: false, by: 'hand' }],
])('%s', (_, classes, expected) => {
  expect(undo(...classes)).toEqual(expected);
});
