/** Workflows of DBOS whose processes are killed, over a database of their own. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Program } from '../../../tests/support/engines/program.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import type { AskedOfClient } from './support/dbos-client.ts';
import type { AskedOfDbos } from './support/dbos-program.ts';
import { Shop } from './support/shop.ts';

const support = join(import.meta.dirname, '../../../tests/support/engines');
const PROGRAM = join(support, 'dbos-program.ts');
const CLIENT = join(support, 'dbos-client.ts');

withPostgres('DBOS', (postgres) => {
  function bills(given: Partial<AskedOfDbos> & Pick<AskedOfDbos, 'how'>) {
    const shop = new Shop();
    onTestFinished(() => shop.close());
    const url = new URL(postgres.url());
    url.search = '';
    url.pathname = `/dbos_${randomUUID().replaceAll('-', '')}`;
    const database = url.href;
    const workflow = `bill-${randomUUID()}`;
    const start = (more: Partial<AskedOfDbos> = {}): Program => {
      const program = new Program(PROGRAM, {
        files: shop.files,
        database,
        workflow,
        ...given,
        ...more,
      });
      onTestFinished(() => program.kill());
      return program;
    };
    return { shop, database, workflow, start };
  }

  test('a bare step that was killed after the payment pays twice', async () => {
    const { shop, start } = bills({ how: 'bare' });
    expect(await start({ death: 'paid' }).end()).toMatchObject({ signal: 'SIGKILL' });
    expect((await start().end()).said).toEqual([{ result: { receipt: 'paid bob' } }]);
    expect(shop.requests()).toHaveLength(2);
  });

  test('a step that was killed after the record gets it, and pays once', async () => {
    const { shop, start } = bills({ how: 'once' });
    expect(await start({ death: 'recorded' }).end()).toMatchObject({ signal: 'SIGKILL', said: [] });
    expect((await start({ fork: true }).end()).said).toEqual([
      { result: { receipt: 'paid bob' } },
      // A fork is the same run.
      { result: { receipt: 'paid bob' } },
    ]);
    expect(shop.requests()).toHaveLength(1);
  });

  test('a step that was killed before the record waits for its settlement', async () => {
    const { shop, workflow, start } = bills({ how: 'once' });
    const call = `${workflow}.pay`;
    expect(await start({ death: 'paid' }).end()).toMatchObject({ signal: 'SIGKILL' });
    const second = start();
    expect(await second.event('doubtful')).toMatchObject({
      call,
      tool: 'pay',
      args: { to: 'bob', cents: 50 },
    });
    await second.kill();
    await shop.settle(call, 'done');
    const error = { code: 'call_in_doubt', evidence: { call, settled: 'done' } };
    expect((await start({ fork: true }).end()).said.slice(-2)).toMatchObject([
      { error },
      { error },
    ]);
    expect(shop.requests()).toHaveLength(1);
  });

  test('an idempotent step that was killed is made again with the same key', async () => {
    const { shop, start } = bills({ how: 'idempotent' });
    expect(await start({ death: 'paid' }).end()).toMatchObject({ signal: 'SIGKILL' });
    expect((await start().end()).said).toEqual([{ result: { receipt: 'paid bob' } }]);
    expect(shop.requests()).toHaveLength(2);
    expect(shop.keys()).toHaveLength(1);
  });

  test('a workflow that waits for a person survives its process', async () => {
    const { shop, start } = bills({ how: 'once', cents: 900 });
    const first = start();
    const held = await first.event('held');
    expect(held).toMatchObject({ id: 'pay', tool: 'pay', args: { to: 'bob', cents: 900 } });
    await first.kill();
    await shop.decide(held);
    // The person gets the message again if the process stopped before DBOS had recorded it.
    expect((await start().end()).said.at(-1)).toEqual({ result: { receipt: 'paid bob' } });
    expect(shop.requests()).toHaveLength(1);
  });

  test('a message wakes the workflow, and approves nothing', async () => {
    const { shop, database, workflow, start } = bills({
      how: 'once',
      cents: 900,
      askAgainMs: 600_000,
    });
    const program = start();
    const held = await program.event('held');
    const send = async (sent: Pick<AskedOfClient, 'message' | 'until'>) => {
      const client = new Program(CLIENT, { database, workflow, ...sent });
      onTestFinished(() => client.kill());
      expect(await client.event('event')).toEqual(held);
    };
    await send({ message: { decision: 'approve' }, until: 'pay (2)' });
    expect(shop.requests()).toEqual([]);
    await shop.decide(held);
    await send({ message: 'decided', until: 'pay (3)' });
    expect((await program.end()).said.at(-1)).toEqual({ result: { receipt: 'paid bob' } });
    expect(shop.requests()).toHaveLength(1);
  });

  test('a call that a person rejects ends its workflow', async () => {
    const { shop, start } = bills({ how: 'once', cents: 900 });
    const program = start();
    await shop.decide(await program.event('held'), 'reject');
    expect((await program.end()).said.at(-1)).toMatchObject({ error: { code: 'call_refused' } });
    expect(shop.requests()).toEqual([]);
  });

  test('a call that the rules refuse ends its workflow', async () => {
    const { shop, start } = bills({ how: 'once', to: 'mallory' });
    const { said } = await start().end();
    expect(said).toMatchObject([{ error: { name: 'CallError', code: 'call_refused' } }]);
    expect(shop.requests()).toEqual([]);
  });

  test('a call in a step of the program does not wait', async () => {
    const { shop, start } = bills({ how: 'in-step', cents: 900 });
    expect((await start().end()).said).toMatchObject([{ error: { code: 'call_pending' } }]);
    expect(shop.requests()).toEqual([]);
  });

  test('while no ledger answers, DBOS repeats the step', async () => {
    const { shop, start } = bills({ how: 'no-server' });
    expect((await start().end()).said).toMatchObject([
      { error: { message: expect.stringMatching(/pay has exceeded its maximum of 2 retries|2/) } },
    ]);
    expect(shop.requests()).toEqual([]);
  });
});
