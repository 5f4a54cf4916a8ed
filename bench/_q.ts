import { openShop, visit } from './shop.ts';

const committed = Promise.resolve({ status: 'committed' as const });
const store: any = {
  commit: () => committed,
  resolve: async () => undefined,
  entries: async () => [],
  blob: async () => undefined,
};
const size = 100;
const { trajectory, writ } = await openShop(store, size);
const N = 200000;
const sum = 0;
const all = new Float64Array(N);
for (let i = 0; i < N; i++) {
  const t = performance.now();
  void trajectory.propose({ ...visit(i, size), writ });
  all[i] = (performance.now() - t) * 1000;
  if (i % 2000 === 0) await new Promise((r) => setImmediate(r));
}
all.sort();
console.log('p50', all[(N / 2) | 0], 'p99', all[(N * 0.99) | 0]);
