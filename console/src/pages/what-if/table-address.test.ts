import { expect, test } from 'vitest';
import { tableAddressOf, tableOf } from './table-address.ts';

test('an address has a short table itself, and no example', () => {
  const address = tableAddressOf('{ "id": "a" }', '{}');
  expect(address).toBe('{"id":"a"}');
  expect(tableOf(address as string)).toBe('{\n  "id": "a"\n}');
  expect(tableAddressOf('{ }', '{}')).toBeUndefined();
  expect(tableAddressOf('{ "id', '{}')).toBeUndefined();
});

test('an address has the digest of a long table', () => {
  const longest = JSON.stringify({ id: 'a'.repeat(3_991) });
  expect(longest.length).toBe(4_000);
  expect(tableAddressOf(longest, '{}')).toBe(longest);
  const [one, other] = ['a', 'b'].map((text) =>
    tableAddressOf(JSON.stringify({ id: text.repeat(3_992) }), '{}'),
  );
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(other).not.toBe(one);
  expect(tableOf(one as string)).toBeUndefined();
  expect(tableAddressOf(JSON.stringify({ id: '\u4e00'.repeat(2_000) }), '{}')).toMatch(/^sha256:/);
});
