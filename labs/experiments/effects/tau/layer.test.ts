import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { Layer } from './layer.ts';

type Item = { n: number; list: number[] };

const id = fc.constantFrom('a', 'b', 'constructor', '__proto__', '10');
const item = fc.record({ n: fc.integer(), list: fc.array(fc.integer(), { maxLength: 2 }) });
const deed = fc.record({
  layer: fc.nat(2),
  id,
  do: fc.oneof(
    fc.record({ is: fc.constant('push' as const), n: fc.integer() }),
    fc.record({ is: fc.constant('set' as const), item }),
    fc.record({ is: fc.constant('gone' as const) }),
  ),
});

/** The same with whole copies, each made when its layer is. */
class Naive {
  readonly items: Map<string, Item>;

  constructor(items: Map<string, Item>) {
    this.items = structuredClone(items);
  }
}

test('a change to a layer is visible in it and above, never below', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(id, item), { maxLength: 4 }),
      fc.array(deed, { maxLength: 20 }),
      (start, deeds) => {
        const initial = Object.assign(Object.create(null), Object.fromEntries(start)) as Record<
          string,
          Item
        >;
        const before = structuredClone(new Map(Object.entries(initial)));
        const layers: Layer<Item>[] = [];
        const naive: Naive[] = [];
        // Each layer is put on the one before when that is done with.
        for (const at of [0, 1, 2]) {
          layers.push(new Layer(layers[at - 1] ?? initial));
          naive.push(new Naive(naive[at - 1]?.items ?? before));
          for (const { id, do: what } of deeds.filter(({ layer }) => layer === at)) {
            const [layer, all] = [layers[at]!, naive[at]!.items];
            if (what.is === 'gone') {
              layer.set(id, undefined);
              all.delete(id);
            } else if (what.is === 'set') {
              layer.open()[id] = structuredClone(what.item);
              all.set(id, structuredClone(what.item));
            } else {
              layer.open()[id]?.list.push(what.n);
              all.get(id)?.list.push(what.n);
            }
          }
        }
        for (const [at, layer] of layers.entries())
          for (const id of ['a', 'b', 'constructor', '__proto__', '10']) {
            expect(layer.peek(id)).toEqual(naive[at]!.items.get(id));
            // An untouched record is the record of the layer below.
            if (!layer.touched.includes(id))
              expect(layer.peek(id)).toBe((layers[at - 1] ?? new Layer(initial)).peek(id));
          }
        expect(new Map(Object.entries(initial))).toEqual(before);
      },
    ),
    { numRuns: cases(300) },
  );
});
