/** The gate of every driver with Assize: its rules, its store in the state folder, its settings. */

import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connectGate, type Gate, openGate } from 'assize/calls';
import type { DriverSetup } from 'assize/conformance';

const RULES = `
id: conformance
tools:
  suite/note: { class: irreversible }
  suite/pay: { class: irreversible }
rules:
  - { id: note, allow: suite/note }
  - { id: pay, ask: suite/pay }
`;

/** Opens the gate. With a silent hook, its judge is a server that takes requests and never answers. */
export async function gateFor({ folder, settings }: DriverSetup, { silentServer = false } = {}): Promise<Gate> {
  if (silentServer) return connectGate({ url: await silentUrl(), token: 'none', server: 'suite' });
  const rules = join(folder, 'rules.yaml');
  writeFileSync(rules, RULES);
  return openGate({
    ...{ store: `sqlite:${join(folder, 'calls.db')}`, rules, agent: 'suite', server: 'suite', env: {} },
    ...(settings.expiresMs !== undefined && { approvals: { timeoutMs: settings.expiresMs } }),
  });
}

/** An error of `fetch` leaves it open if the sink has taken the call. A refusal of the sink does not. */
export function isUnknown(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && /^(AbortError|TimeoutError)$/.test(error.name));
}

function silentUrl(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1', () => {
      server.unref();
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
