/** The gate of every driver with Assize: its rules, its store in the state folder, its settings. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectGate, type Gate, openGate } from '@assize/gate';
import type { DriverSettings, DriverSetup } from '@assize/testing/conformance';

const RULES = `
id: conformance
tools:
  suite/note: { class: irreversible }
  suite/pay: { class: irreversible }
  suite/refund: { class: irreversible }
rules:
  - { id: note, allow: suite/note }
  - { id: pay, ask: suite/pay }
  - { id: refund, ask: suite/refund }
`;

/** The answers of a judge that is a server with a fault. */
const JUDGED: Readonly<Record<NonNullable<DriverSettings['hook']>, string | undefined>> = {
  silent: undefined,
  word: '"perhaps"',
  object: '{}',
};

/**
 * Opens the gate. If the hook has a fault, the judge of the gate is a server that has it. A driver
 * without a judge has another function that can be silent.
 */
export async function gateFor(
  { folder, settings }: DriverSetup,
  { hasJudge = false } = {},
): Promise<Gate> {
  const { hook } = settings;
  if (hook !== undefined && (hasJudge || hook !== 'silent'))
    return connectGate({ url: await judgeUrl(JUDGED[hook]), token: 'none', server: 'suite' });
  const rules = join(folder, 'rules.yaml');
  writeFileSync(rules, RULES);
  return openGate({
    ...{
      store: `sqlite:${join(folder, 'calls.db')}`,
      rules,
      agent: 'suite',
      server: 'suite',
      env: {},
    },
    ...(settings.expiresMs !== undefined && { approvals: { timeoutMs: settings.expiresMs } }),
  });
}

/** The address of a server that gives this answer to every request. Undefined: it gives none. */
function judgeUrl(answer: string | undefined): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer((_, response) => {
      if (answer !== undefined) response.setHeader('content-type', 'application/json').end(answer);
    }).listen(0, '127.0.0.1', () => {
      server.unref();
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
