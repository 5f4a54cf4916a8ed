import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budget } from '@assize/cli/internal/domains/budget';
import { exportFacts } from '@assize/testing/internal/fact-model.ts';
import { issueWrit } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { Assize, verifyStore } from 'assize/internal/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { openPostgres } from './index.ts';

withPostgres('the runtime', (postgres) => {
  test('several processes spend from one budget, and never more than it has', async () => {
    const url = postgres.url();
    const keys = generateKeys();
    const stores = await Promise.all(Array.from({ length: 3 }, () => openPostgres({ url })));
    const worlds = stores.map(
      (store) => new Assize({ store, domains: [budget], anchors: [keys.publicKey] }),
    );
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
    // The budget is 100,000, so 20 of 33 requests for 5,000 succeed.
    const rulings = await Promise.all(
      worlds.map(async (world) => {
        const trajectory = await world.open(id);
        const told: string[] = [];
        while (told.length < 11) {
          const proposed = trajectory.propose({
            action: 'spend',
            role,
            args: { amount: 5_000 },
            writ,
          });
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
    const ahead = stores[0]!.readInParallel([{ trajectory_id: id, entries: 34, position: 0 }]);
    let run = ahead.at(id, 1);
    for (; typeof run === 'number'; run = ahead.at(id, 1)) await new Promise(setImmediate);
    expect(run).toMatchObject({ seq: 1, count: 33 });
    await ahead.close();
    const trajectory = await new Assize({
      store: stores[1]!,
      domains: [budget],
      anchors: [keys.publicKey],
    }).open(id);
    expect(trajectory.state()).toMatchObject({ spent: { ada: 100_000 } });
    await Promise.all(stores.map((store) => store.close()));
  });

  test('the command rebuilds facts as the same rows, and finds one that differs', async () => {
    const url = postgres.url();
    const folder = mkdtempSync(join(tmpdir(), 'assize-rebuild-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = await openPostgres({ url });
    const writ = writFor('nurse');
    const memories = await Promise.all(
      ['a', 'b'].map(async (trajectoryId) =>
        (await runtimeOver(store, [clinic]).create(clinic, { trajectoryId, writs: [writ] })).memory(
          {
            space: 'ward',
            writ,
          },
        ),
      ),
    );
    for (let n = 0; n < 40; n += 1) {
      const said = {
        subject: `p${n % 3}`,
        predicate: n % 2 === 0 ? 'drug' : 'weight',
        confidence: (n % 5) / 4,
      };
      const valid = {
        from: `2026-03-0${1 + (n % 4)}T00:00:00.000000Z`,
        to: `2026-03-0${5 + (n % 4)}T00:00:00.000000Z`,
      };
      const ruling = await memories[n % 2]!.assert({ ...said, object: `object ${n % 7}`, valid });
      expect(ruling).toMatchObject({ ruling: 'committed' });
    }
    const before = await exportFacts(store);
    const assize = (...args: string[]) => runCommand(folder, url, 'memory', 'rebuild', ...args);
    const same = {
      code: 0,
      out: expect.stringMatching(
        /^\d+ fact versions in \d+ partitions of the ledger: the store is equal\.\n$/,
      ),
    };
    expect(await assize('--check')).toMatchObject(same);
    expect(await assize()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^rebuilt \d+ fact versions from 40 changes\n$/),
    });
    expect(await exportFacts(store)).toEqual(before);
    const schema = postgres.schemaOf(url);
    await postgres.query(
      `UPDATE "${schema}".fact SET confidence = 0.125 WHERE fact_id = (SELECT min(fact_id) FROM "${schema}".fact)`,
    );
    expect(await assize('--check')).toMatchObject({ code: 1 });
    await assize();
    expect(await assize('--check')).toMatchObject(same);
    expect(await exportFacts(store)).toEqual(before);
    await store.close();
  });
});
