import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '#stores';
import { clinic } from '../support/clinic/clinic.ts';
import { operator, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { blockOf } from '../support/process/guide-files.ts';

test('erasure.md: the program erases the facts of a subject', async () => {
  const folder = mkdtempSync(join(import.meta.dirname, '../../dist-guide-'));
  const store = await openStore('memory:');
  try {
    writeFileSync(join(folder, 'forget.ts'), blockOf('erasure.md', 'ts forget.ts'));
    const { forget } = (await import(join(folder, 'forget.ts'))) as {
      forget: (...given: unknown[]) => Promise<unknown>;
    };
    const writ = writFor('nurse');
    const officer = writFor('officer', {
      actions: ['assize.erase'],
      scopes: ['erase:memory:ward-3'],
    });
    const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
      trajectoryId: 't',
      writs: [writ],
    });
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

test.each(
  blockOf('erasure.md', 'sh believed')
    .replace(/ \\\n */g, ' ')
    .trimEnd()
    .split('\n'),
)('%s', async (command) => {
  const root = join(import.meta.dirname, '../..');
  const folder = mkdtempSync(join(tmpdir(), 'assize-erasure-guide-'));
  const url = `sqlite:${join(folder, 'ward.db')}`;
  try {
    const store = await openStore(url);
    const writ = writFor('nurse');
    const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
      trajectoryId: 'notes',
      writs: [writ],
    });
    const memory = trajectory.memory({ space: 'ward-3', writ });
    for (const [predicate, object] of [
      ['weight', '79 kg'],
      ['drug', 'aspirin'],
    ] as const)
      await memory.assert({ subject: 'patient 7', predicate, object });
    const [weight] = (await memory.recall({ predicate: 'weight' })).facts;
    await store.close();
    writeFileSync(
      join(folder, 'ward.ts'),
      `export { clinic } from '${join(root, 'tests/support/clinic/clinic.ts')}';\n`,
    );
    writeFileSync(join(folder, 'operator.key'), operator.privateKey);
    writeFileSync(join(folder, 'ward.db.anchors.json'), JSON.stringify([operator.publicKey]));
    const assize = `assize() { "${process.execPath}" "${join(root, 'packages/cli/src/main.ts')}" "$@"; }`;
    const said = execFileSync(
      'sh',
      ['-euc', `${assize}\n${command.replace('CLAIM', weight!.lineage)}`],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, ASSIZE_STORE: 'sqlite:./ward.db', NO_COLOR: '1' },
      },
    );
    expect(said).toMatch(/^erased \d values of \d entr/);
    const after = await openStore(url);
    const left = await after.facts({ space: 'ward-3', kind: 'all' });
    expect(left.map(({ object }) => object.replace(/"[0-9a-f]{64}"/, 'HASH'))).toEqual(
      command.includes('CLAIM') ? ['aspirin', '{"$erased":HASH}'] : [],
    );
    await after.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
