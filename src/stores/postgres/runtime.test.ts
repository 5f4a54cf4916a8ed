import { budget } from 'assize/domains/budget';
import { expect, test } from 'vitest';
import { issueWrit } from '#authority';
import { generateKeys, isAssizeError } from '#canon';
import { Assize, verifyStore } from '#runtime';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres } from './index.ts';

withPostgres('the runtime', (postgres) => {
  test('several processes spend from one budget, and never more than it has', async () => {
    const url = postgres.url();
    const keys = generateKeys();
    const stores = await Promise.all(Array.from({ length: 3 }, () => openPostgres({ url })));
    const worlds = stores.map((store) => new Assize({ store, domains: [budget], anchors: [keys.publicKey] }));
    const writ = issueWrit(
      {
        issuer: keys.publicKey,
        subject: 'agent:ada',
        actions: ['spend'],
        scopes: ['role:spender:ada'],
        not_before: '2020-01-01T00:00:00.000000Z',
        expires: '2100-01-01T00:00:00.000000Z',
        max_depth: 0,
        nonce: '1',
      },
      keys.privateKey,
    );
    const { id } = await worlds[0]!.create(budget, { writs: [writ] });
    const role = { name: 'spender', params: { agent: 'ada' } };
    // 100,000 in all: of 33 times 5,000, twenty go.
    const rulings = await Promise.all(
      worlds.map(async (world) => {
        const trajectory = await world.open(id);
        const told: string[] = [];
        while (told.length < 11) {
          const proposed = trajectory.propose({ action: 'spend', role, args: { amount: 5_000 }, writ });
          const { ruling } = await proposed.catch((error: unknown) => {
            if (!isAssizeError(error, 'conflict')) throw error;
            return { ruling: 'outrun' };
          });
          if (ruling !== 'outrun') told.push(ruling);
        }
        return told;
      }),
    );
    const reports = await verifyStore(stores[0]!);
    expect(reports).toMatchObject([{ trajectory_id: id, valid: true, entries: 34 }]);
    expect(rulings.flat().filter((ruling) => ruling === 'committed')).toHaveLength(20);
    // Another thread opens the store by its URL.
    const ahead = stores[0]!.checkAhead([{ trajectory_id: id, entries: 34, position: 0 }]);
    let run = ahead.at(id, 1);
    for (; typeof run === 'number'; run = ahead.at(id, 1)) await new Promise(setImmediate);
    expect(run).toMatchObject({ seq: 1, count: 33 });
    await ahead.close();
    const trajectory = await new Assize({ store: stores[1]!, domains: [budget], anchors: [keys.publicKey] }).open(id);
    expect(trajectory.state()).toMatchObject({ spent: { ada: 100_000 } });
    await Promise.all(stores.map((store) => store.close()));
  });
});
