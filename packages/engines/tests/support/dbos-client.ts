/** Sends a message to a workflow: `node dbos-client.ts ASKED`. It says the call that waits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOSClient } from '@dbos-inc/dbos-sdk';

export interface AskedOfClient {
  readonly database: string;
  readonly workflow: string;
  readonly message: unknown;
  /** The step that the message brings about. */
  readonly until: string;
}

const { database, workflow, message, until } = JSON.parse(
  process.argv[2] as string,
) as AskedOfClient;
const client = await DBOSClient.create({ systemDatabaseUrl: database });
const event = await client.getEvent(workflow, 'assize:pay', 5);
await client.send(workflow, message, 'assize:pay');
const isDone = async (): Promise<boolean> =>
  ((await client.listWorkflowSteps(workflow)) ?? []).some(({ name }) => name === until);
while (!(await isDone())) await sleep(50);
process.stdout.write(`${JSON.stringify({ event })}\n`);
await client.destroy();
