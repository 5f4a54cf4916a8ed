import { adjudicate, initialState, World } from 'assize/kernel';
import { shop, shopState, visit } from './shop.ts';

const size = 100;
const world = new World(shop as any, initialState(shop as any, shopState(size)));
const A = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
} as any;
const t = performance.now();
const N = 300000;
for (let i = 0; i < N; i++) {
  const r = adjudicate(world, visit(i, size) as any, A, { at: '2026-01-01T00:00:00.000000Z', observations: [] });
  (r as any).keep();
}
console.log(((performance.now() - t) / N) * 1000, 'us');
