/**
 * A program with a DBOS workflow that pays: `node dbos-program.ts ASKED`. It says each event as a
 * line of JSON, and dies where its test wants it.
 */

import { connectGate } from '@assize/gate/internal/calls';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { AssizeError } from 'assize/internal/base';
import { dbosOnce } from '../../src/index.ts';
import { type Death, dyingGate, pay } from './dying.ts';
import type { ShopFiles } from './shop.ts';

export interface AskedOfDbos {
  readonly files: ShopFiles;
  readonly database: string;
  readonly workflow: string;
  readonly how: 'bare' | 'once' | 'idempotent' | 'no-server' | 'in-step';
  readonly to?: string;
  readonly cents?: number;
  readonly death?: Death;
  /** How long the workflow waits before it asks again. */
  readonly askAgainMs?: number;
  /** Forks the workflow from its first step when it is over. */
  readonly fork?: boolean;
}

const asked = JSON.parse(process.argv[2] as string) as AskedOfDbos;
const {
  files,
  database,
  workflow,
  how,
  to = 'bob',
  cents = 50,
  death,
  askAgainMs = 20,
  fork,
} = asked;
const say = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

const gate =
  how === 'no-server'
    ? connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' })
    : await dyingGate(files, death);
const once = dbosOnce(gate, DBOS, {
  askAgainMs,
  askAgainMaxMs: askAgainMs,
  retries: { maxAttempts: 2, intervalSeconds: 0.01 },
  onPending: (held) => say({ held }),
  onDoubt: (doubtful) => say({ doubtful }),
});

async function bill(payment: { readonly to: string; readonly cents: number }): Promise<unknown> {
  const bare = async () => pay(files, { ...payment, key: 'bare' }, death);
  if (how === 'bare') return DBOS.runStep(bare, { name: 'pay' });
  const paid = () =>
    once(
      { key: 'pay', tool: 'pay', args: { ...payment } },
      ({ args, key }) => pay(files, { ...args, key }, death),
      {
        idempotent: how === 'idempotent',
      },
    );
  return how === 'in-step' ? DBOS.runStep(paid, { name: 'own' }) : paid();
}

const billing = DBOS.registerWorkflow(bill, { name: 'bill' });
DBOS.setConfig({
  name: 'bills',
  systemDatabaseUrl: database,
  logLevel: 'error',
  applicationVersion: '1',
});
await DBOS.launch();
await ended(await DBOS.startWorkflow(billing, { workflowID: workflow })({ to, cents }));
if (fork === true) await ended(await DBOS.forkWorkflow(workflow, 0));
await DBOS.shutdown();
await gate.close();

async function ended(handle: { getResult(): Promise<unknown> }): Promise<void> {
  try {
    say({ result: await handle.getResult() });
  } catch (error) {
    const { name, message, code, evidence } = error as Partial<AssizeError>;
    say({ error: { name, message, code, evidence } });
  }
}
