/**
 * A process that proposes and sends notices: `node notices-process.ts STORE URL RUN COUNT`. It says
 * the id of each proposal that waits, after its commit. With COUNT 0 it only sends.
 */
import { openStore } from '#stores';
import { decidersIn } from '../../packages/server/src/notices/mail/deciders-in.ts';
import { NoticeSender } from '../../packages/server/src/notices/notice-sender.ts';
import { openProposalsIn } from '../../packages/server/src/notices/open-proposals.ts';
import { receiversOf } from '../../packages/server/src/notices/receivers.ts';
import { noticePorts } from '../support/ledger/notice-cards.ts';
import { desk, pay, waiting } from '../support/ledger/payments-desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { say } from './process-output.ts';

const [, , url, hook, run, count] = process.argv as unknown as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const store = await openStore(url);
const assize = runtimeOver(store, [desk]);
const sender = new NoticeSender({
  store,
  receivers: receiversOf(
    [{ url: hook, secret: 'a-secret-of-24-characters', allowPrivate: true }],
    new Map(),
  ),
  openProposals: openProposalsIn(assize, () => undefined),
  decidersOf: decidersIn(assize),
  pageOf: (path) => `https://assize.example${path}`,
  rulingOf: (row) => assize.rulingAt(row),
  ...noticePorts(store, assize, [desk]),
  onFailure: () => undefined,
  pollMs: 20,
  claimMs: 2_000,
  retry: { firstMs: 10, maxMs: 50, attempts: 1_000 },
});
await sender.start();
for (let n = 0; n < Number(count); n += 1) {
  const name = `${run}-${n}`;
  await pay(assize, name, 900);
  sender.wake();
  say((await waiting(assize, name)).id);
}
say('ready');
process.stdin.on('end', async () => {
  await sender.stop();
  await assize.close();
  await store.close();
});
process.stdin.resume();
