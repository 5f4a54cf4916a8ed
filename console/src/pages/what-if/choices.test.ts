import { expect, test } from 'vitest';
import { askedBy, choicesOf } from './choices.ts';

const of = (search: string) => choicesOf(new URLSearchParams(search));

test('an address without choices tries a rule table on all entries', () => {
  expect(of('')).toEqual({
    tries: 'rules',
    domain: undefined,
    table: null,
    from: undefined,
    to: undefined,
  });
  expect(askedBy('main', of(''), '{"id":"a"}')).toEqual({
    body: { trajectories: ['main'], rules: { id: 'a' }, limit: 1_000 },
  });
});

test('the address has the version and the range', () => {
  expect(askedBy('main', of('try=domain&domain=abc&from=2&to=9'), '')).toEqual({
    body: { trajectories: ['main'], domain_hash: 'abc', from_seq: 2, to_seq: 9, limit: 1_000 },
  });
});

test('an empty range, no version and no JSON lack something', () => {
  expect(askedBy('main', of('from=9&to=2'), '{}')).toEqual({
    lacks: 'The first entry is after the last one.',
  });
  expect(askedBy('main', of('try=domain'), '{}')).toEqual({ lacks: 'Choose a version.' });
  expect(askedBy('main', of('from=-1&to=x'), '{ "id": ')).toEqual({ lacks: 'This is not JSON.' });
});
