import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addMicros } from 'assize/internal/canon';
import { expect, test } from 'vitest';
import { ChainWriter, keysOf, rootMembers } from '../../../../tests/support/ledger/rows.ts';
import { ephemeralWrit, ephemeralWrits } from './ephemeral-writ.ts';

const key = keysOf(51);
const what = { action: 'assize.erase', scopes: ['erase:/a'], principal: 'ida' };

test('covers one action in one trajectory, for some minutes from its head', () => {
  const at = '2090-01-01T00:00:00.000000Z';
  const chain = new ChainWriter('t');
  chain.add('root', { ...rootMembers({}), at });
  const writ = ephemeralWrit(chain.head, what, key);
  expect(writ).toMatchObject({
    issuer: key.publicKey,
    subject: 'ida',
    trajectory: 't',
    actions: ['assize.erase'],
    scopes: ['erase:/a'],
    not_before: at,
    expires: addMicros(at, 300_000_000),
    max_depth: 0,
  });
  expect(ephemeralWrit(chain.head, what, key).nonce).not.toBe(writ.nonce);
  const writs = ephemeralWrits(chain.head, what, key);
  expect(writs()).toBe(writs());
});

test('is the only writ that commands issue for their own actions', () => {
  const packages = join(import.meta.dirname, '../../..');
  const makers = globSync('{cli/src,command/src/!(operation),*/src/commands}/**/*.ts', {
    cwd: packages,
  })
    .filter((path) => !/\.test\.ts$|\/example\.ts$/.test(path))
    .filter((path) => readFileSync(join(packages, path), 'utf8').includes('issueWrit('));
  expect([...new Set(makers)].sort()).toEqual([
    'cli/src/commands/writ/issue.ts',
    'cli/src/tour/play.ts',
    'command/src/input/ephemeral-writ.ts',
  ]);
});
