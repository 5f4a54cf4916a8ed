import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { BranchFolders } from '#tools/branches';
import { fileTools } from '#tools/files';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { listing, put } from '../support/tools/files-stage.ts';

test('the next process removes copies and commands of a killed process', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-branches-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [root, url] = [join(folder, 'root'), `sqlite:${join(folder, 'store.db')}`];
  put(root, 'a', 'old');
  const begun = await openStore(url);
  await runtimeOver(begun, [tally]).create(tally, { trajectoryId: 't' });
  await begun.close();

  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'branches-process.ts'), url, root],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const paths: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    paths.push(JSON.parse(line).path);
    if (paths.length === 2) break;
  }
  // Until both commands are at work.
  while (!paths.every((path) => existsSync(join(path, 'alive')))) await new Promise(setImmediate);
  // As long as it lives, they are its own.
  await new BranchFolders({ root }).sweep();
  expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const groups = paths.flatMap((path) =>
    readdirSync(dirname(path)).filter((name) => name.endsWith('.process')),
  );
  expect(groups).toHaveLength(2);
  const pids = groups.map((name) => Number.parseInt(name, 10));
  const isAlive = (pid: number): boolean =>
    existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(statSync(paths[0]!).isDirectory()).toBe(true);

  const store = await openStore(url);
  const folders = new BranchFolders({ root });
  const assize = runtimeOver(store, [tally], { tools: [...fileTools({ root }), ...folders.tools] });
  expect(await assize.recoverEffects()).toEqual([]);
  const trajectory = await assize.open('t');
  await trajectory.transaction(
    { writ: writFor('alice'), writes: [`fs:${root}/**`] },
    async (tx) => {
      await folders.speculate(
        tx,
        [
          async (_: unknown, own) => {
            expect(pids.map(isAlive)).toEqual([false, false]);
            expect(readdirSync(join(folder, '.assize-branches/root'))).toHaveLength(1);
            await own.write('a', 'new');
          },
        ],
        () => 0,
      );
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    },
  );
  await assize.close();
  await store.close();
  expect(listing(root)).toEqual({ a: '644 new' });
  expect(readdirSync(join(folder, '.assize-branches/root'))).toEqual([]);
});
