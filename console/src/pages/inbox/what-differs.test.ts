import { shownOf } from 'assize/internal/views/shown.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Approval } from '../../api/queries.ts';
import { whatDiffers } from './what-differs.ts';

const approval = (args: unknown, id = ''): Approval =>
  ({ id, action: { name: 'pay', role: {}, args }, card: shownOf({ name: 'pay', args }) }) as never;

const args = fc.record(
  {
    to: fc.constantFrom('ada', 'ben'),
    cents: fc.nat(5),
    note: fc.constantFrom('x', 'y'),
    at: fc.record({ n: fc.nat(1) }),
  },
  { requiredKeys: ['cents'] },
);

test('each value of each proposal is shown: among the equal ones or in its row', () => {
  fc.assert(
    fc.property(fc.array(args, { minLength: 1, maxLength: 8 }), (all) => {
      const { equal, columns, rows } = whatDiffers(all.map((one, n) => approval(one, `${n}`)));
      expect(rows.map((row) => row.approval.id).sort()).toEqual(all.map((_, n) => `${n}`).sort());
      for (const { approval, cells } of rows) {
        const { at, ...flat } = all[Number(approval.id)] as { at?: { n: number } };
        const naive = { ...flat, ...(at !== undefined && { 'at/n': at.n }) };
        const shown = [...equal, ...columns.map((name, n) => ({ name, value: cells[n]?.value }))];
        const values = shown
          .filter(({ value }) => value !== undefined)
          .map(({ name, value }) => [name, JSON.parse(value as string)]);
        expect(Object.fromEntries(values)).toEqual(naive);
      }
      for (const [n, name] of columns.entries()) {
        const column = rows.map(({ cells }) => cells[n]?.value);
        expect(new Set(column).size, name).toBeGreaterThan(1);
        for (const { cells } of rows) {
          const isOnly = column.filter((value) => value === cells[n]?.value).length === 1;
          expect(cells[n]?.isAlone).toBe(isOnly && new Set(column).size < all.length);
        }
      }
    }),
  );
});

test('the largest amount stands on top, and then the rare values', () => {
  const given = [5, 900, 20].map((cents, n) => approval({ cents, currency: 'EUR' }, `${n}`));
  expect(whatDiffers(given).rows.map(({ approval }) => approval.id)).toEqual(['1', '2', '0']);
  expect(whatDiffers(given).equal).toEqual([{ name: 'currency', value: '"EUR"' }]);
  const names = ['ada', 'ada', 'mallory', 'ada'].map((to, n) => approval({ to }, `${n}`));
  expect(whatDiffers(names).rows.map(({ approval }) => approval.id)).toEqual(['2', '0', '1', '3']);
});

test('erased arguments, and arguments that are not an object, have a row', () => {
  const { rows, columns } = whatDiffers([approval(undefined, 'a'), approval([1], 'b')]);
  expect(columns).toEqual(['']);
  expect(rows.map(({ cells }) => cells[0]?.value).sort()).toEqual(['[1]', undefined]);
});
