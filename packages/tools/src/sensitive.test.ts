import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from 'assize/internal/effects';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { allEntries } from '../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../tests/support/tools/effect-sink.ts';
import { newFolder, put } from '../../../tests/support/tools/files-stage.ts';
import { BranchFolders } from './branches/index.ts';
import { fileTools } from './files/index.ts';
import { shellTool } from './shell/index.ts';

// Answers of file tools and command tools are stored in entries unchanged, unless they are
// sensitive.

const SECRET = 'Zqsecret';

/** Tools that read data which no other user may read, and the calls of these tools. */
interface Made {
  readonly tools: readonly Tool[];
  readonly read: (tx: any) => Promise<unknown>;
}

const input = z.strictObject({});

test.each<[string, (root: string, sensitive: boolean | undefined) => Made]>([
  [
    'a file',
    (root, sensitive) => ({
      tools: fileTools({ root, sensitive } as never),
      read: (tx) => tx.call('files.read', { path: 'token' }),
    }),
  ],
  [
    'a name in a folder',
    (root, sensitive) => ({
      tools: fileTools({ root, sensitive } as never),
      read: (tx) => tx.call('files.list', {}),
    }),
  ],
  [
    'the path of a file that is written',
    (root, sensitive) => ({
      tools: fileTools({ root, sensitive, delivery: 'externalised' } as never),
      read: (tx) => tx.call('files.write', { path: SECRET, content: 'x' }),
    }),
  ],
  [
    'the output of a command',
    (root, sensitive) => ({
      tools: [
        shellTool({
          name: 'run',
          input,
          class: 'read',
          command: ['cat', `${root}/token`],
          sensitive,
        } as never),
      ],
      read: (tx) => tx.call('run', {}),
    }),
  ],
  [
    'the output of a command that is undone',
    (root, sensitive) => ({
      tools: [
        shellTool({
          name: 'run',
          input,
          command: ['cat', 'token'],
          snapshotOf: root,
          sensitive,
        } as never),
      ],
      read: (tx) => tx.call('run', {}),
    }),
  ],
  [
    'the output of a command in a branch',
    (root, sensitive) => {
      const folders = new BranchFolders({ root, sensitive } as never);
      const branch = (_: unknown, folder: any) => folder.run(['cat', 'token']);
      return {
        tools: [...fileTools({ root, sensitive } as never), ...folders.tools],
        read: (tx) => folders.speculate(tx, [branch], ([tried]) => (tried?.failed ? undefined : 0)),
      };
    },
  ],
])('%s', async (_, make) => {
  for (const sensitive of [true, false, undefined]) {
    const around = newFolder();
    onTestFinished(() => rmSync(around, { recursive: true }));
    const root = join(around, 'repo');
    mkdirSync(root);
    put(root, 'token', SECRET);
    put(root, `${SECRET}.txt`, '');
    const { tools, read } = make(root, sensitive);
    for (const { spec } of tools) expect(spec.sensitive ?? false).toBe(sensitive === true);
    const store = new MemoryStore();
    const assize = runtimeOver(store, [tally], {
      tools,
      effects: { blockTimeoutMs: 240_000, callTimeoutMs: 60_000 },
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const writes = [`fs:${root}/**`];
    await trajectory.transaction(
      { writ: writFor('alice'), writes, reads: [`fs:${root}`] } as never,
      async (tx) => {
        expect(JSON.stringify(await read(tx))).toContain(SECRET);
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    await assize.recoverEffects();
    const entries = JSON.stringify(await allEntries(store, 't'));
    expect(entries.includes(SECRET)).toBe(sensitive !== true);
  }
});
