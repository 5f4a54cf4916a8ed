import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '../../api/queries.ts';
import {
  amountsText,
  endOfToday,
  likeCallsOf,
  suggestedAmounts,
  termsOf,
  wholeServers,
} from './like-calls.ts';

const call = (tool: string, agent = 'ada', trajectory_id = 't'): Card =>
  ({
    ...{ trajectory_id, action: `bank/${tool}`, is_gated: true },
    role: { name: 'agent', params: { agent } },
  }) as never;

test('calls of one agent in one trajectory are alike, and no others', () => {
  const like = { trajectory: 't', agent: 'ada', tools: ['bank/pay', 'bank/get'] };
  expect(likeCallsOf([call('pay'), call('get'), call('pay')])).toEqual(like);
  expect(likeCallsOf([])).toBeUndefined();
  expect(likeCallsOf([call('pay'), call('pay', 'ben')])).toBeUndefined();
  expect(likeCallsOf([call('pay'), call('pay', 'ada', 'other')])).toBeUndefined();
  const pin = { ...call('pay'), action: 'pin', is_gated: false };
  expect(likeCallsOf([pin])).toBeUndefined();
  expect(wholeServers(['bank/pay', 'bank/get', 'mail/send'])).toEqual(['bank/*', 'mail/*']);
});

test('the suggestion is the sum of each unit of the rules, and never more', () => {
  const amounts = fc.dictionary(fc.constantFrom('cents', 'seats', 'grams'), fc.nat(1_000));
  fc.assert(
    fc.property(fc.array(fc.record({ amounts })), amounts, (calls, most) => {
      const found = suggestedAmounts(calls, most);
      for (const unit of ['cents', 'seats', 'grams']) {
        const given = calls.filter((one) => Object.hasOwn(one.amounts, unit));
        const isSuggested = given.length > 0 && Object.hasOwn(most, unit);
        expect(Object.hasOwn(found, unit)).toBe(isSuggested);
        const sum = given.reduce((total, one) => total + (one.amounts[unit] ?? 0), 0);
        if (isSuggested) expect(found[unit]).toBe(Math.min(sum, most[unit] ?? 0));
      }
    }),
  );
  expect(amountsText({ cents: 1_500, seats: 2 })).toBe('1,500 cents and 2 seats');
});

test('today ends at the next midnight of the reader', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      (now) => {
        const end = new Date(endOfToday(now));
        expect([end.getHours(), end.getMinutes(), end.getSeconds()]).toEqual([0, 0, 0]);
        const hours = (end.getTime() - now.getTime()) / 3_600_000;
        expect(hours > 0 && hours <= 25).toBe(true);
      },
    ),
  );
});

test('only a proposal of a standing approval has terms', () => {
  const terms = {
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 2,
    amounts: {},
    expires: '2026-01-01T00:00:00Z',
    because: 'x',
  };
  const of = (name: string, args: unknown) => termsOf({ name, args } as never);
  expect(of('stand', { id: 'a', ...terms })).toEqual(terms);
  for (const member of Object.keys(terms))
    expect(of('stand', { ...terms, [member]: undefined }), member).toBeUndefined();
  for (const args of [undefined, null, 'x', { ...terms, amounts: null }])
    expect(of('stand', args)).toBeUndefined();
  expect(of('call', terms)).toBeUndefined();
});
