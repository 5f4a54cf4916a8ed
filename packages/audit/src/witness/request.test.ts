import { expect, test } from 'vitest';
import { headFault } from './request.ts';

type Heads = Record<string, string[]>;
const faultOf = (headersDistinct: Heads): number | undefined =>
  headFault({ headersDistinct })?.status;

test.each([
  'witness.example',
  'Witness.Example:2112',
  'localhost:80',
  '127.0.0.1',
  '[::1]:2112',
  'a_b.internal',
])('the host %s is one', (host) => {
  expect(faultOf({ host: [host] })).toBeUndefined();
});

test.each([
  [[]],
  [['']],
  [['a', 'a']],
  [['a, b']],
  [['a@b']],
  [['a/b']],
  [['a b']],
  [['a:x']],
  [['a:123456']],
  [['[::1']],
])('%j is not one host', (host) => {
  expect(faultOf({ host })).toBe(400);
});

test.each<Heads>([
  {},
  { 'content-type': ['text/plain'] },
  { 'content-type': ['text/plain;charset=UTF-8'] },
  { 'content-type': ['application/octet-stream; charset="utf-8"'] },
  { 'content-type': ['application/x-www-form-urlencoded'] },
  { 'content-encoding': ['identity'] },
])('%j may stand before a checkpoint', (heads) => {
  expect(faultOf({ host: ['a'], ...heads })).toBeUndefined();
});

test.each<Heads>([
  { 'content-type': ['text/plain; charset=utf-16'] },
  { 'content-type': ['application/json;CHARSET = "latin1"'] },
  { 'content-type': ['text/plain; charset=utf-8; charset=utf-7'] },
  { 'content-type': ['text/plain; charset=utf-8', 'text/plain; charset=utf-7'] },
  { 'content-type': ['text/plain; charset='] },
  { 'content-encoding': ['gzip'] },
  { 'content-encoding': ['identity', 'br'] },
])('%j may not', (heads) => {
  expect(faultOf({ host: ['a'], ...heads })).toBe(415);
});
