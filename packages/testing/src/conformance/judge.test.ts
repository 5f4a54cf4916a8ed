import { expect, test } from 'vitest';
import { type Evidence, type ExpectedCall, judge } from './judge.ts';
import type { Effect } from './sink/effect.ts';

const args = { to: 'bob', cents: 500 };
const effect: Effect = { run: 'r', call: 'p1', tool: 'pay', args };
const call = (made: ExpectedCall['made']): ExpectedCall => ({
  run: 'r',
  id: 'p1',
  tool: 'pay',
  args,
  made,
});
const told = (isError: boolean) => ({ run: 'r', of: { call: 'p1', isError, text: 'paid' } });
const shown = (given: object) => ({ run: 'r', of: { call: 'p1', tool: 'pay', args, ...given } });

function kinds(evidence: Partial<Evidence>): readonly string[] {
  return judge({ effects: [], expected: [call('once')], told: [], shown: [], ...evidence }).map(
    ({ kind }) => kind,
  );
}

test('an approved call is made exactly once', () => {
  expect(kinds({ effects: [effect] })).toEqual([]);
  expect(kinds({ effects: [] })).toEqual(['not-made']);
  expect(kinds({ effects: [effect, effect] })).toEqual(['made-twice']);
});

test('a call that may be lost is made at most once', () => {
  const expected = [call('at-most-once')];
  expect(kinds({ expected })).toEqual([]);
  expect(kinds({ expected, effects: [effect] })).toEqual([]);
  expect(kinds({ expected, effects: [effect, effect] })).toEqual(['made-twice']);
});

test('a call without an approval is not made, in any form', () => {
  const expected = [call('never')];
  expect(kinds({ expected })).toEqual([]);
  expect(kinds({ expected, effects: [{ ...effect, args: { to: 'eve' } }] })).toEqual([
    'not-approved',
  ]);
});

test('the tool and the arguments are the approved ones, in any order', () => {
  expect(kinds({ effects: [{ ...effect, args: { cents: 500, to: 'bob' } }] })).toEqual([]);
  expect(kinds({ effects: [{ ...effect, args: { ...args, cents: 5_000 } }] })).toEqual([
    'other-arguments',
  ]);
  expect(kinds({ effects: [{ ...effect, tool: 'note' }] })).toEqual(['other-arguments']);
});

test('an effect of another run or of another call is found', () => {
  expect(kinds({ effects: [effect, { ...effect, run: 'r2' }] })).toEqual(['unknown-call']);
  expect(kinds({ effects: [effect, { ...effect, call: 'p2' }] })).toEqual(['unknown-call']);
});

test('a success that the sink has not seen is found, an error is not', () => {
  const expected = [call('at-most-once')];
  expect(kinds({ expected, told: [told(false)] })).toEqual(['untrue']);
  expect(kinds({ expected, told: [told(true)] })).toEqual([]);
  expect(kinds({ expected, told: [told(false)], effects: [effect] })).toEqual([]);
});

test('a person is shown exactly the call that is made, each time', () => {
  const effects = [effect];
  expect(kinds({ effects, shown: [shown({}), shown({})] })).toEqual([]);
  expect(kinds({ effects, shown: [shown({}), shown({ args: { to: 'bob' } })] })).toEqual([
    'not-shown',
  ]);
  expect(kinds({ effects, shown: [shown({ tool: 'note' })] })).toEqual(['not-shown']);
});
