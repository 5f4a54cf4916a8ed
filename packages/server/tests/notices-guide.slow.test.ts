/** The examples of docs/guide/notices.md, run as they stand. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { loadConfig } from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import { expect, onTestFinished, test } from 'vitest';
import { noticePorts } from '../../../tests/support/ledger/notice-cards.ts';
import { desk, pay, waiting } from '../../../tests/support/ledger/payments-desk.ts';
import { runtimeOver } from '../../../tests/support/ledger/runtime.ts';
import { decidersIn } from '../src/notices/mail/deciders-in.ts';
import { NoticeSender } from '../src/notices/notice-sender.ts';
import { openProposalsIn } from '../src/notices/open-proposals.ts';
import { receiversOf } from '../src/notices/receivers.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/guide/notices.md'), 'utf8');

function block(name: string): string {
  return new RegExp(`^\`\`\`${name.replace('.', '\\.')}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
    PAGE,
  )![1]!;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('the receiver accepts what a server of the config sends, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-notices-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const index = join(import.meta.dirname, '../../assize/src/public/index.ts');
  writeFileSync(
    join(folder, 'assize.config.ts'),
    block('ts assize.config.ts')
      .replace("'assize'", JSON.stringify(index))
      .replace('8787', String(port)),
  );
  writeFileSync(join(folder, 'receive.mjs'), block('js receive.mjs').replace('8787', String(port)));
  const receiver = spawn(process.execPath, [join(folder, 'receive.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void receiver.kill());
  let said = '';
  receiver.stdout.on('data', (data) => (said += data));
  await once(receiver.stdout, 'data');

  const config = await loadConfig({ from: folder, env: {} });
  const store = new MemoryStore();
  const assize = runtimeOver(store, [desk]);
  const webhooks = config.webhooks.slice(1).map(({ channels: _, ...rest }) => rest);
  const pageOf = (path: string): string => `https://assize.example${path}`;
  const openProposals = openProposalsIn(assize, (error) => expect(error).toBeUndefined());
  const receivers = receiversOf(webhooks, new Map());
  const options = {
    store,
    receivers,
    openProposals,
    decidersOf: decidersIn(assize),
    pageOf,
    clock: systemClock,
  };
  const sender = new NoticeSender({
    ...options,
    rulingOf: (row) => assize.rulingAt(row),
    ...noticePorts(store, assize, [desk]),
    onFailure: (error) => expect(error).toBeUndefined(),
  });
  await sender.start();
  onTestFinished(() => sender.stop());
  await pay(assize, 't', 900);
  const { id } = await waiting(assize, 't');
  sender.wake();
  await expect
    .poll(() => said, { timeout: 10_000 })
    .toBe(`ready\napproval.requested pay ${pageOf(`/inbox/${id}`)}\n`);
  const forged = await fetch(webhooks[0]!.url, {
    method: 'POST',
    headers: {
      'webhook-id': 'a',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': 'v1,x',
    },
    body: '{}',
  });
  expect(forged.status).toBe(401);
});
