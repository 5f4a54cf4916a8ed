import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { budget } from '@assize/cli/internal/domains/budget';
import { expect, test, vi } from 'vitest';
import { verifyStore } from '#runtime';
import { createAssize } from './create-assize.ts';
import { findRootKey } from './root-key.ts';

const at = (path: string): string => pathToFileURL(join(import.meta.dirname, path)).href;
const ROUNDS = 8;

/** Says when it begins, so that the end comes within the work and not while modules are loaded. */
const PROGRAM = `
  import { createAssize } from '${at('create-assize.ts')}';
  import { budget } from '${at('../../../cli/src/domains/budget/index.ts')}';
  process.stdout.write('begins');
  const world = await createAssize({ store: process.argv[1], domain: budget, env: {} });
  await world.close();`;

test('a start that is killed at any time is completed by the next one', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const reached = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'assize-crash-'));
    const store = `sqlite:${folder}/a.db`;
    const child = spawn(
      process.execPath,
      ['--input-type=module-typescript', '-e', PROGRAM, store],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    await pause(round * 8);
    child.kill('SIGKILL');
    await ended;
    const key = findRootKey(store, {});
    reached.add(key === undefined ? 'no key' : 'key');
    const world = await createAssize({ store, domain: budget, env: {} });
    expect(world.trajectory.length).toBe(1);
    if (key !== undefined) expect(world.writ.issuer).toBe(key.publicKey);
    expect(await verifyStore(world.store)).toMatchObject([{ entries: 1 }]);
    await world.close();
    rmSync(folder, { recursive: true });
  }
  expect(reached.has('key')).toBe(true);
  vi.restoreAllMocks();
});
