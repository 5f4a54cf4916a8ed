/** The gate of every driver with Assize: its rules, its store in the state folder, its settings. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectGate, type Gate, openGate } from '@assize/gate';
import type { DriverHandlers, DriverSettings, DriverSetup } from '@assize/testing/conformance';
import { keptServer } from './kept-server.ts';
import type { ServedGate } from './served-gate.ts';

/** The rules. `result`: the place of a tool's text in what its framework records. */
const rulesOf = (result: string, { silentMs = 600_000 }: DriverSettings): string => `
id: conformance
tools:
  suite/note: { class: irreversible }
  suite/pay: { class: irreversible }
  suite/refund: { class: irreversible }
  suite/get: { class: read, reads: /item }
  suite/set: { class: reversible, writes: /item, undo: { tool: suite/set, args: { item: /args/item, to: ${result} } } }
rules:
  - { id: note, allow: suite/note }
  - { id: pay, ask: suite/pay }
  - { id: refund, ask: suite/refund }
  - { id: values, allow: [suite/get, suite/set] }
turns:
  - { id: turns, tools: [suite/get, suite/set], minutes: ${silentMs / 60_000} }
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
  { hasJudge = false, isServed = false, result = '/result' } = {},
): Promise<Gate> {
  const { hook } = settings;
  if (hook !== undefined && (hasJudge || hook !== 'silent'))
    return connectGate({ url: await judgeUrl(JUDGED[hook]), token: 'none', server: 'suite' });
  const rules = join(folder, 'rules.yaml');
  writeFileSync(rules, rulesOf(result, settings));
  if (isServed) {
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    return connectGate({ ...(await keptServer<ServedGate>('assize', folder)), server: 'suite' });
  }
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

/** Ends a run of the gate. Returns the calls that stay of one that failed. */
export function endIn(
  gate: Gate,
  { effect }: Pick<DriverSetup, 'effect'>,
): NonNullable<DriverHandlers['end']> {
  return async ({ run, failed }) => {
    if (!failed) await gate.port.end(run);
    if (!failed) return [];
    const { left } = await gate.takeBack(run, {
      set: ({ args, key }) => effect({ run, call: key, tool: 'set', args, key }),
    });
    return left.map(({ call }) => call.slice(run.length + 1));
  };
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
