import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layoutOf } from './layout.ts';

const step = fc.record({
  trajectory: fc.constantFrom('t', 'u', 'v'),
  from: fc.array(fc.nat(), { maxLength: 3 }),
});

test('each entry has its own row, and each edge goes down', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const entries = steps.map(({ trajectory, from }, i) => ({
        id: `e${i}`,
        trajectory_id: trajectory,
        from: i === 0 ? [] : from.map((n) => ({ entry: `e${n % i}`, how: 'state' as const })),
      }));
      const { columns, nodes, edges } = layoutOf(entries);
      expect(nodes.map(({ row }) => row)).toEqual(entries.map((_, i) => i));
      for (const { entry, column } of nodes) expect(columns[column]).toBe(entry.trajectory_id);
      expect(edges).toHaveLength(entries.flatMap(({ from }) => from).length);
      for (const { from, to } of edges) expect(from.row).toBeLessThan(to.row);
    }),
  );
});

test('an edge from an entry that is not listed is left out', () => {
  const entry = { id: 'b', trajectory_id: 't', from: [{ entry: 'a', how: 'belief' as const }] };
  expect(layoutOf([entry])).toMatchObject({ columns: ['t'], edges: [] });
});
