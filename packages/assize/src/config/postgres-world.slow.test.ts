import { budget } from '@assize/cli/internal/domains/budget';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { createAssize } from './create-assize.ts';

const env = { ASSIZE_ROOT_KEY: 'ab'.repeat(32) };
const proposal = {
  action: 'spend',
  role: { name: 'spender', params: { agent: 'ada' } },
  args: { amount: 1 },
  idempotencyKey: 'one',
} as const;

withPostgres('a world on PostgreSQL', (postgres) => {
  test('starts that are concurrent have one world and one ruling', async () => {
    const store = postgres.url();
    const worlds = await Promise.all(
      [1, 2, 3].map(() => createAssize({ store, domain: budget, env })),
    );
    const rulings = await Promise.all(worlds.map((world) => world.propose(proposal)));
    const ids = rulings.map((ruling) =>
      ruling.ruling === 'committed' ? ruling.entry.id : ruling.ruling,
    );
    expect(new Set(ids).size).toBe(1);
    await Promise.all(worlds.map((world) => world.close()));
    const later = await createAssize({ store, domain: budget, env });
    expect(later.trajectory.length).toBe(2);
    await later.close();
  });

  test('another root key opens no authority', async () => {
    const store = postgres.url();
    await (await createAssize({ store, domain: budget, env })).close();
    // The seals of the entries are those of the first key.
    const another = 'cd'.repeat(32);
    await expect(
      createAssize({ store, domain: budget, env: { ASSIZE_ROOT_KEY: another } }),
    ).rejects.toMatchObject({
      code: 'invalid_ledger',
      message: expect.stringContaining('not among the root keys'),
    });
    // A later root key keeps the seals, and grants nothing that the first one granted.
    const keys = `${another},${env.ASSIZE_ROOT_KEY}`;
    const other = await createAssize({ store, domain: budget, env: { ASSIZE_ROOT_KEY: keys } });
    const first = await createAssize({ store, domain: budget, env });
    await expect(
      first.trajectory.propose({ ...proposal, writ: other.writ } as never),
    ).rejects.toMatchObject({
      code: 'bad_writ',
    });
    await Promise.all([other.close(), first.close()]);
  });
});
