import { generateKeys } from 'assize/internal/canon';
import { expect, test } from 'vitest';
import { FORWARDED, ForwardMark } from './forward-mark.ts';

const keysOf = (seed: number) => generateKeys(new Uint8Array(32).fill(seed));
const mark = new ForwardMark(keysOf(1));
const PATH = '/v1/trajectories/main/proposals';
const ID = '7f9c2ba4-e88f-4271-8b71-0de0a1f0a1c2';

const idIn = (
  value: string,
  url = `http://10.0.0.5:4517${PATH}`,
  method = 'POST',
): string | undefined =>
  mark.requestIdIn(new Request(url, { method, headers: { [FORWARDED]: value } }));

test('a mark holds for its request, at any address of the server', () => {
  const value = mark.of(ID, 'POST', PATH);
  expect(idIn(value)).toBe(ID);
  expect(idIn(value, `https://b.example${PATH}`)).toBe(ID);
});

test('no client can make a mark, or use one for another request', () => {
  const value = mark.of(ID, 'POST', PATH);
  const [, mac = ''] = value.split('.');
  const forged = [
    idIn(''),
    idIn(ID),
    idIn(`${ID}.`),
    idIn(`${ID}.${mac.slice(1)}`),
    idIn(`${ID}.${'0'.repeat(mac.length)}`),
    idIn(`${ID.replace('7', '8')}.${mac}`),
    idIn(value, 'http://10.0.0.5:4517/v1/trajectories/other/proposals'),
    idIn(value, `http://10.0.0.5:4517${PATH}?wait=1`),
    idIn(value, `http://10.0.0.5:4517${PATH}`, 'PUT'),
    idIn(new ForwardMark(keysOf(2)).of(ID, 'POST', PATH)),
  ];
  expect(forged).toEqual(forged.map(() => undefined));
  expect(
    mark.requestIdIn(new Request(`http://10.0.0.5${PATH}`, { method: 'POST' })),
  ).toBeUndefined();
});
