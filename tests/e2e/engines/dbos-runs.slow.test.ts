/** Durable runs of agents as workflows of DBOS, whose processes are killed. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { RunRecords } from '#agents';
import { openStore } from '#stores';
import { seededNumbers } from '../../../src/testing/faults.ts';
import { Outside } from '../../crash/outside.ts';
import type { AskedOfDbosRuns } from '../../support/engines/dbos-runs-program.ts';
import { Program } from '../../support/engines/program.ts';
import { errandRuntime, errands, payTool } from '../../support/ledger/errands.ts';
import { withPostgres } from '../../support/postgres/index.ts';

const PROGRAM = join(import.meta.dirname, '../../support/engines/dbos-runs-program.ts');
const RUNS = 4;
const KILLS = 2;
const LIFE_MS_MAX = 1_000;

withPostgres('DBOS', (postgres) => {
  test('durable runs in workflows end once though their processes are killed', async () => {
    const outside = new Outside();
    const port = await outside.listen();
    onTestFinished(() => outside.close());
    const ledger = postgres.url();
    const store = await openStore(ledger);
    onTestFinished(() => store.close());
    const names = Array.from({ length: RUNS }, (_, n) => `errand-${n}`);
    const pay = payTool(() => {
      throw new Error('this process makes no call');
    });
    const domain = errands(pay);
    const assize = errandRuntime(store, pay, domain);
    const records = new RunRecords(store);
    for (const trajectoryId of names) {
      await assize.create(domain, { trajectoryId });
      await records.begin({ trajectoryId, agents: 'clerks' });
    }
    await assize.close();

    const url = new URL(postgres.url());
    url.search = '';
    url.pathname = `/dbos_${randomUUID().replaceAll('-', '')}`;
    const asked: AskedOfDbosRuns = { store: ledger, database: url.href, port, names };
    const next = seededNumbers(Number(process.env['ASSIZE_SEED']));
    for (let kill = 0; kill < KILLS; kill++) {
      const program = new Program(PROGRAM, asked);
      onTestFinished(() => program.kill());
      await program.event('works');
      await sleep(next(LIFE_MS_MAX));
      await program.kill();
    }
    const last = new Program(PROGRAM, asked);
    onTestFinished(() => last.kill());
    await last.event('ended');
    const { signal, said } = await last.end();
    expect(signal).toBeNull();
    const ended = said.filter((event) => 'status' in event).map(({ name, status }) => [name, status]);
    expect(ended.sort()).toEqual(names.map((name) => [name, 'done']));
    for (const name of names) {
      const done = outside.sinks.keyed.log.filter(({ did, what }) => did === 'do' && what === name);
      expect([name, done.length]).toEqual([name, 1]);
    }
    const { turns } = await records.get('errand-0');
    expect(turns).toBeGreaterThan(3);
  });
});
