import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Transaction } from './effects-query.ts';
import { isEnded } from './fates.ts';
import { lanesOf } from './lanes.ts';

const transaction = fc.record({
  epoch: fc.integer({ min: 1, max: 60 }),
  phase: fc.constantFrom('open', 'committed', 'settled', 'aborted'),
  claims: fc.uniqueArray(
    fc.record({
      access: fc.constantFrom('read', 'write'),
      scope: fc.constantFrom('bank:ada', 'bank:ben', 'bank:**'),
    }),
    { selector: ({ scope }) => scope },
  ),
  effects: fc.array(
    fc.record({
      phase: fc.constantFrom('applied', 'in_doubt', 'undone', 'due'),
      class: fc.constant({ reversibility: 'reversible' }),
    }),
  ),
});
const transactions = fc
  .uniqueArray(transaction, { selector: ({ epoch }) => epoch })
  .map((all) => all as unknown as readonly Transaction[]);

test('a lane has the newest transactions of its scope, and the lowest open one', () => {
  fc.assert(
    fc.property(transactions, fc.integer({ min: 1, max: 20 }), (all, max) => {
      const { epochs, lanes } = lanesOf(all, max);
      expect(epochs).toEqual(
        all
          .map(({ epoch }) => epoch)
          .sort((a, b) => a - b)
          .slice(-max),
      );
      const shown = all.filter(({ epoch }) => epochs.includes(epoch));
      const claiming = (scope: string) =>
        shown.filter(({ claims }) => claims.some((one) => one.scope === scope));
      expect(new Set(lanes.map(({ scope }) => scope))).toEqual(
        new Set(shown.flatMap(({ claims }) => claims.map(({ scope }) => scope))),
      );
      for (const { scope, frontier, fates } of lanes) {
        expect(new Set(fates.keys())).toEqual(new Set(claiming(scope).map(({ epoch }) => epoch)));
        const open = claiming(scope).filter((one) => !isEnded(one));
        expect(frontier).toBe(
          open.length === 0 ? undefined : Math.min(...open.map(({ epoch }) => epoch)),
        );
      }
      const free = lanes.map(({ frontier }) => frontier === undefined);
      expect(free).toEqual(free.toSorted());
    }),
  );
});

test('a transaction with a call in doubt shows the doubt, whatever else it did', () => {
  const effects = ['applied', 'in_doubt', 'undone'].map((phase) => ({
    phase,
    class: { reversibility: 'reversible' },
  }));
  const given = [
    { epoch: 3, phase: 'committed', claims: [{ access: 'write', scope: 'bank:ada' }], effects },
  ];
  const [lane] = lanesOf(given as never, 10).lanes;
  expect(lane?.fates.get(3)).toMatchObject({ shape: 'doubt' });
});
