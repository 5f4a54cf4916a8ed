import { expect, test } from 'vitest';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { hammer } from './serve-hammer.ts';

// Servers that are killed while agents propose, people decide and tools are called, over HTTP. The
// long form is in serve-kill.nightly.test.ts.

const SEED = Number(process.env['ASSIZE_SEED']);

onEveryDatabase(({ kind, newPlace }) => {
  test(`answers of killed servers are there once (seed ${SEED})`, async () => {
    const servers = kind === 'postgres' ? 2 : 1;
    const figures = await hammer(newPlace(), SEED, {
      agents: 40,
      seconds: 8,
      kills: 2,
      servers,
      writSeconds: 900,
    });
    console.info(kind, JSON.stringify(figures));
    expect(figures.orders).toBeGreaterThan(10);
  });
});
