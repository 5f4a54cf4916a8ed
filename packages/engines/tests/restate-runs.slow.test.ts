/** Durable runs of agents in a cluster of Restate, whose nodes and programs are killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished, test } from 'vitest';
import { killCarriers } from '../../../tests/crash/runs-kill.ts';
import { restateCarriers } from '../../../tests/support/engines/restate-runs.ts';
import { restateProgram } from '../../../tests/support/engines/restate-server.ts';

describe.skipIf(restateProgram() === undefined)(
  'Restate (absent without npm ci --prefix peers)',
  () => {
    test('durable runs end once though nodes and programs are killed', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'assize-runs-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const url = `sqlite:${join(folder, 'store.db')}`;
      await killCarriers({ url, carriers: restateCarriers, runs: 12, kills: 4, betweenMs: 700 });
    });
  },
);
