import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashText } from '#canon';
import { RequestIndex } from './request-index.ts';

const added = fc.array(
  fc.tuple(
    fc.nat(30).map((n) => hashText(String(n))),
    fc.nat(1_000),
  ),
);

test('the index returns the last seq added, if saved or layered too (property)', () => {
  fc.assert(
    fc.property(added, added, (first, second) => {
      const below = new RequestIndex();
      for (const [id, seq] of first) below.add(id, seq);
      const again = RequestIndex.from(JSON.parse(JSON.stringify(below.state())));
      const above = new RequestIndex(again);
      for (const [id, seq] of second) above.add(id, seq);
      const model = new Map(first);
      for (let n = 0; n <= 30; n++)
        expect(again.seqOf(hashText(String(n)))).toBe(model.get(hashText(String(n))));
      for (const [id, seq] of second) model.set(id, seq);
      for (let n = 0; n <= 30; n++)
        expect(above.seqOf(hashText(String(n)))).toBe(model.get(hashText(String(n))));
      // Additions over another index leave it unchanged, and the text does not depend on the order.
      expect(again.state()).toEqual(below.state());
      const backwards = new RequestIndex();
      for (const [id, seq] of [...new Map(first)].reverse()) backwards.add(id, seq);
      expect(backwards.state()).toEqual(below.state());
      // Saved, extended and saved again, the index equals one with all additions in one step.
      for (const [id, seq] of second) {
        again.add(id, seq);
        below.add(id, seq);
      }
      for (let n = 0; n <= 30; n++)
        expect(again.seqOf(hashText(String(n)))).toBe(model.get(hashText(String(n))));
      expect(again.state()).toEqual(below.state());
    }),
  );
});

test('the index takes at most 51 characters of a snapshot per id, for any seq', () => {
  const ruled = new RequestIndex();
  for (let n = 0; n < 300; n++) ruled.add(hashText(String(n)), 2 ** 48 - 1 - n);
  expect(ruled.state().length).toBeLessThanOrEqual(300 * 51);
  const again = RequestIndex.from(ruled.state());
  for (let n = 0; n < 300; n++) expect(again.seqOf(hashText(String(n)))).toBe(2 ** 48 - 1 - n);
  expect(() => RequestIndex.from(ruled.state().slice(1))).toThrow('rulings are missing');
});
