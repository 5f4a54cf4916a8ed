import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '#stores';
import { clinic } from '../support/clinic.ts';
import { blockOf } from '../support/guide-files.ts';
import { runtimeOver, writFor } from '../support/runtime.ts';

test('what the guide to erasure shows of beliefs erases them', async () => {
  const folder = mkdtempSync(join(import.meta.dirname, '../../dist-guide-'));
  const store = await openStore('memory:');
  try {
    writeFileSync(join(folder, 'forget.ts'), blockOf('erasure.md', 'ts forget.ts'));
    const { forget } = (await import(join(folder, 'forget.ts'))) as {
      forget: (...given: unknown[]) => Promise<unknown>;
    };
    const writ = writFor('nurse');
    const officer = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward-3'] });
    const trajectory = await runtimeOver(store, [clinic]).create(clinic, { trajectoryId: 't', writs: [writ] });
    const memory = trajectory.memory({ space: 'ward-3', writ });
    for (const subject of ['patient 7', 'patient 8'])
      await memory.assert({ subject, predicate: 'drug', object: `for ${subject}` });
    expect(await forget(trajectory, officer)).toMatchObject({ ruling: 'committed' });
    expect((await memory.recall()).facts.map(({ object }) => object)).toEqual(['for patient 8']);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
