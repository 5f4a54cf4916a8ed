import { expect, test } from 'vitest';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { hammer } from './serve-hammer.ts';

const SEED = Number(process.env['ASSIZE_SEED']);
const STRENGTH = { agents: 200, seconds: 60, kills: 5, writSeconds: 60, measureSeconds: 5 };
/** Megabytes by which the heap of a server may grow in half a minute. */
const GROWS_MAX = 16;

onEveryDatabase(({ kind, newPlace }) => {
  test(`200 agents lose nothing in a minute of kills (seed ${SEED})`, async () => {
    const figures = await hammer(newPlace(), SEED, {
      ...STRENGTH,
      servers: kind === 'postgres' ? 2 : 1,
    });
    console.info(kind, JSON.stringify(figures));
    // The first measurement is before all code is compiled and all caches are full. A trajectory
    // remembers its writs, so each agent has one of a minute here: a run has two or three.
    const [first = 0, ...later] = figures.heap.slice(1);
    expect(later.length, 'measurements').toBeGreaterThan(1);
    expect(Math.max(...later) - first).toBeLessThan(GROWS_MAX);
  });
});
