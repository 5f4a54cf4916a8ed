/** Handlers of Restate whose processes are killed, with a server of their own. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Program } from '../../../tests/support/engines/program.ts';
import {
  freePort,
  RestateServer,
  restateProgram,
} from '../../../tests/support/engines/restate-server.ts';
import type { AskedOfRestate } from './support/restate-program.ts';
import { Shop } from './support/shop.ts';

const PROGRAM = join(import.meta.dirname, './support/restate-program.ts');

describe.skipIf(restateProgram() === undefined)(
  'Restate (absent without npm ci --prefix peers)',
  () => {
    let server: RestateServer;
    beforeAll(async () => {
      server = await RestateServer.start();
    });
    afterAll(() => server.stop());

    async function bills(given: Partial<AskedOfRestate> = {}) {
      const shop = new Shop();
      onTestFinished(() => shop.close());
      const port = await freePort();
      const start = async (more: Partial<AskedOfRestate> = {}): Promise<Program> => {
        const program = new Program(PROGRAM, { files: shop.files, port, ...given, ...more });
        onTestFinished(() => program.kill());
        await program.event('serves');
        return program;
      };
      /** A program that dies, and another one that Restate finds in its place. */
      const restarted = async (how: string, death: AskedOfRestate['death'] & string) => {
        const first = await start({ death });
        await server.register(port);
        const id = await server.send('bills/pay', { how, to: 'bob', cents: 50 });
        expect(await first.end()).toMatchObject({ signal: 'SIGKILL' });
        return { id, program: await start() };
      };
      const survive = async (how: string, death: AskedOfRestate['death'] & string) =>
        server.answerTo((await restarted(how, death)).id);
      return { shop, port, start, restarted, survive };
    }

    test('a bare step that was killed after the payment pays twice', async () => {
      const { shop, survive } = await bills();
      expect(await survive('bare', 'paid')).toEqual({ status: 200, body: { receipt: 'paid bob' } });
      expect(shop.requests()).toHaveLength(2);
    });

    test('a step that was killed after the record gets it, and pays once', async () => {
      const { shop, survive } = await bills();
      expect(await survive('once', 'recorded')).toEqual({
        status: 200,
        body: { receipt: 'paid bob' },
      });
      expect(shop.requests()).toHaveLength(1);
    });

    test('a step that was killed before the record waits for its settlement', async () => {
      const { shop, restarted } = await bills();
      const { id, program } = await restarted('once', 'paid');
      const call = `${id}.pay`;
      expect(await program.event('doubtful')).toMatchObject({
        call,
        tool: 'pay',
        args: { to: 'bob', cents: 50 },
      });
      await shop.settle(call, 'done');
      const metadata = { code: 'call_in_doubt', call, settled: 'done' };
      expect(await server.answerTo(id)).toMatchObject({ status: 409, body: { metadata } });
      expect(shop.requests()).toHaveLength(1);
    });

    test('an idempotent step that was killed is made again with the same key', async () => {
      const { shop, survive } = await bills();
      expect(await survive('idempotent', 'paid')).toEqual({
        status: 200,
        body: { receipt: 'paid bob' },
      });
      expect(shop.requests()).toHaveLength(2);
      expect(shop.keys()).toHaveLength(1);
    });

    test('an invocation that waits for a person survives its process', async () => {
      const { shop, port, start } = await bills();
      const first = await start();
      await server.register(port);
      const id = await server.send('bills/pay', { how: 'once', to: 'bob', cents: 900 });
      const held = await first.event('held');
      expect(held).toMatchObject({
        run: id,
        id: 'pay',
        tool: 'pay',
        args: { to: 'bob', cents: 900 },
      });
      await first.kill();
      await shop.decide(held);
      await start();
      expect(await server.answerTo(id)).toEqual({ status: 200, body: { receipt: 'paid bob' } });
      expect(shop.requests()).toHaveLength(1);
    });

    test('a signal wakes the invocation, and approves nothing', async () => {
      const { shop, port, start } = await bills({ askAgainMs: 600_000 });
      const program = await start();
      await server.register(port);
      const id = await server.send('bills/pay', { how: 'once', to: 'bob', cents: 900 });
      const held = await program.event('held');
      await server.answerTo(await server.send('bills/wake', id));
      await expect.poll(() => server.stepsOf(id)).toContain('pay (2)');
      expect(shop.requests()).toEqual([]);
      await shop.decide(held);
      await server.answerTo(await server.send('bills/wake', id));
      expect(await server.answerTo(id)).toEqual({ status: 200, body: { receipt: 'paid bob' } });
      expect(shop.requests()).toHaveLength(1);
    });

    test('a refused call ends its invocation, and so does a rejected one', async () => {
      const { shop, port, start } = await bills();
      const program = await start();
      await server.register(port);
      const never = await server.send('bills/pay', { how: 'once', to: 'mallory', cents: 5 });
      const refused = { status: 403, body: { metadata: { code: 'call_refused' } } };
      expect(await server.answerTo(never)).toMatchObject(refused);
      const large = await server.send('bills/pay', { how: 'once', to: 'bob', cents: 900 });
      await shop.decide(await program.event('held'), 'reject');
      expect(await server.answerTo(large)).toMatchObject(refused);
      expect(shop.requests()).toEqual([]);
    });

    test('a second invocation of the same run gets the result of the first', async () => {
      const { shop, port, start } = await bills();
      await start();
      await server.register(port);
      const pay = async (cents: number) =>
        server.answerTo(
          await server.send('bills/pay', { how: 'once', to: 'bob', cents, run: 'order-7' }),
        );
      expect([await pay(50), await pay(50)]).toEqual([
        { status: 200, body: { receipt: 'paid bob' } },
        { status: 200, body: { receipt: 'paid bob' } },
      ]);
      expect(await pay(60)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('other arguments') },
      });
      expect(shop.requests()).toHaveLength(1);
    });

    test('while no ledger answers, Restate repeats the step', async () => {
      const { shop, port, start } = await bills();
      const program = await start({ url: 'http://127.0.0.1:9' });
      await server.register(port);
      const id = await server.send('bills/pay', { how: 'once', to: 'bob', cents: 50 });
      await expect.poll(async () => program.count('attempt')).toBeGreaterThan(1);
      await program.kill();
      await start();
      expect(await server.answerTo(id)).toEqual({ status: 200, body: { receipt: 'paid bob' } });
      expect(shop.requests()).toHaveLength(1);
    });
  },
);
