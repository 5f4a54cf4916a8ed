/**
 * A writ holder with write access to one folder of a root tries to write in another folder, through
 * names that lead there.
 */
import {
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { fileResolver } from '#tools/files';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { newFolder } from '../support/tools/files-stage.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(newFolder());
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['mine', 'yours']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'yours/secret'), 'safe');
  writeFileSync(join(root, 'mine/a'), 'a');
});

/**
 * A tool that follows any given path, as most tools do. Only the claims and their canonical names
 * confine it.
 */
const follow = declareTool({
  name: 'follow',
  input: z.strictObject({ path: z.string() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ({ path }) => [`fs:${path}`],
  execute: ({ path }) => writeFileSync(path, 'stolen'),
  uncompensated: 'it writes the same again',
});

async function write(
  path: string,
  options: { claims?: string; before?: () => void; after?: () => void } = {},
) {
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools: [follow],
    effects: { resolvers: { fs: fileResolver(root) } },
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const writ = writFor('mallory', { scopes: ['role:**', `fs:${root}/mine/**`] });
  const claims = options.claims ?? `fs:${root}/**`;
  return trajectory
    .transaction({ writ, writes: [claims], retries: 2 }, async (tx) => {
      options.before?.();
      await tx.call('follow', { path });
      options.after?.();
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    })
    .then(
      ({ ruling }) => ruling.ruling,
      (error) => error.reason,
    );
}

const swap = (): void => {
  renameSync(join(root, 'mine/a'), join(root, 'mine/b'));
  symlinkSync('../yours/secret', join(root, 'mine/a'));
};

test.each<[string, () => Promise<string>, string]>([
  ['a file that is there', () => write(join(root, 'yours/secret')), 'not_authorised'],
  [
    'a link to it',
    () => {
      symlinkSync('../yours/secret', join(root, 'mine/link'));
      return write(join(root, 'mine/link'));
    },
    'not_authorised',
  ],
  [
    'a link to its folder',
    () => {
      symlinkSync(join(root, 'yours'), join(root, 'mine/folder'));
      return write(join(root, 'mine/folder/secret'));
    },
    'not_authorised',
  ],
  [
    'a hard link to it',
    () => {
      linkSync(join(root, 'yours/secret'), join(root, 'mine/twin'));
      return write(join(root, 'mine/twin'), { claims: '**' });
    },
    'not_authorised',
  ],
  [
    'a link out of the root',
    () => {
      symlinkSync('/etc/hostname', join(root, 'mine/out'));
      return write(join(root, 'mine/out'));
    },
    'bad_resolver',
  ],
  ['a path that climbs', () => write(`${root}/mine/../yours/secret`), 'bad_input'],
  [
    'a link in place of what was claimed',
    () => write(join(root, 'mine/a'), { claims: `fs:${root}/mine/a`, before: swap }),
    'scope_exceeded',
  ],
  [
    'a link in place of what was held',
    () => write(join(root, 'mine/a'), { after: swap }),
    'not_authorised',
  ],
])('by %s', async (_, attack, code) => {
  expect(await attack()).toBe(code);
  expect(readFileSync(join(root, 'yours/secret'), 'utf8')).toBe('safe');
});

test('a write within the granted scope is accepted', async () => {
  symlinkSync('a', join(root, 'mine/link'));
  expect(await write(join(root, 'mine/link'))).toBe('committed');
  expect(readFileSync(join(root, 'mine/a'), 'utf8')).toBe('stolen');
});
