/**
 * The world `expenses`: a scripted agent files receipts and pays them over HTTP. The server that it
 * speaks to is killed during the last payment.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { isInstance } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import { AgentClient } from './agent-client.ts';
import type { BankServer } from './bank.ts';
import { beginOf, timeBefore } from './days.ts';
import { learn, tripObservations } from './learn.ts';
import type { ClockMessage } from './paying-server-worker.ts';
import { CUT_RECEIPT, OPEN_RECEIPT, paymentsOf, RECEIPTS, type WantedPayment } from './receipts.ts';
import { EXPENSES_WORLD } from './tour-config.ts';

/** Plays all but the end of the cut payment. The next server makes that. */
export async function playExpenses(
  bank: BankServer,
  token: string,
  lastDay: Instant,
  interruption: AbortSignal,
): Promise<void> {
  const server = fork(new URL('./paying-server-worker.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(server, 'exit');
  const kill = (): void => void server.kill('SIGKILL');
  interruption.addEventListener('abort', kill, { once: true });
  try {
    const setClock = (at: Instant) => addressAt(server, ended, { at, bank: bank.address });
    const agent = new AgentClient(await setClock(beginOf(lastDay)), token);
    await learn(agent, lastDay, setClock);
    for (const receipt of RECEIPTS) {
      const { id, from, cents, text, on } = receipt;
      await setClock(timeBefore(lastDay, ...on));
      await agent.propose(EXPENSES_WORLD, `file ${id}`, {
        ...{ action: 'file', role: clerkOf(id), args: { from, cents, text } },
      });
      if (id === CUT_RECEIPT || id === OPEN_RECEIPT) continue;
      for (const payment of paymentsOf(receipt)) await pay(agent, payment, text, lastDay);
    }
    const made = bank.cutNextPayment();
    // An earlier run may have made the payment. Then the server answers, and the bank gets nothing.
    const answered = payCutReceipt(agent, lastDay).catch((error: unknown) => {
      if (!isInstance(error, TypeError)) throw error;
    });
    await Promise.race([made, answered]);
    kill();
    await answered;
    await ended;
  } catch (error) {
    interruption.throwIfAborted();
    throw error;
  } finally {
    interruption.removeEventListener('abort', kill);
    kill();
  }
}

/** The payment of the cut receipt. Its key is the same each time, so it is one payment. */
export async function payCutReceipt(agent: AgentClient, lastDay: Instant): Promise<void> {
  const receipt = RECEIPTS.find(({ id }) => id === CUT_RECEIPT);
  if (receipt === undefined) return;
  for (const payment of paymentsOf(receipt)) await pay(agent, payment, receipt.text, lastDay);
}

/** Pays, and states the text of the receipt and the remembered trip that the agent went by. */
async function pay(
  agent: AgentClient,
  { receipt, to, cents }: WantedPayment,
  text: string,
  lastDay: Instant,
): Promise<void> {
  await agent.propose(EXPENSES_WORLD, `pay ${receipt} to ${to}`, {
    ...{ action: 'pay', role: clerkOf(receipt), args: { to, cents } },
    observations: [
      { name: `receipt ${receipt}`, value: text },
      ...(await tripObservations(agent, to, lastDay)),
    ],
  });
}

/** The role of the agent for one receipt. */
export function clerkOf(receipt: string) {
  return { name: 'Clerk', params: { receipt } };
}

/** Sets the clock of the server, and so starts it. @throws Error if the process ends first */
async function addressAt(
  server: ChildProcess,
  ended: Promise<readonly unknown[]>,
  message: ClockMessage,
): Promise<string> {
  server.send(message);
  const [first] = (await Promise.race([
    once(server, 'message'),
    ended.then(([code]) => [{ code }]),
  ])) as [{ readonly url?: string; readonly code?: number }];
  if (first.url !== undefined) return first.url;
  throw new Error(`The server of the tour ended with ${first.code}.`);
}
