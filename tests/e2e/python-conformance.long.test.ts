/** The gate in Python, put through the conformance suite by a driver that is a Python program. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runConformance, SCENARIOS } from '#conformance';
import { type ListeningServer, startServer } from '../support/process/listening-server.ts';
import { hasPython } from '../support/process/python-verifier.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'packages/cli/src/main.ts');
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

/** A configuration whose questions expire after a second, if it says so. */
function config(approvals: string): string {
  const actions = "['call', 'begin', 'report', 'session']";
  return `
export default {
  policy: './assize.yaml',
  worlds: { calls: { domain: 'gateway' } },${approvals}
  principals: {
    'agent:ada': { kinds: ['agent'], grants: [{ trajectories: ['calls'], actions: ${actions} }] },
    'manager:grace': { kinds: ['counselor'] },
  },
};
`;
}

describe.skipIf(!hasPython)('a driver in Python', () => {
  const servers: ListeningServer[] = [];
  const STORE = 'sqlite:./calls.db';
  let folder: string;

  /** Starts a server in a folder of its own. */
  async function serverIn(name: string, approvals: string): Promise<string> {
    const place = join(folder, name);
    mkdirSync(place);
    writeFileSync(join(place, 'assize.config.ts'), config(approvals));
    writeFileSync(join(place, 'assize.yaml'), RULES);
    const server = await startServer(place, ['--port', '0'], { env: { ASSIZE_STORE: STORE } });
    servers.push(server);
    return server.url;
  }

  function tokenIn(name: string, principal: string): string {
    const env = { ...process.env, ASSIZE_STORE: STORE };
    const given = ['token', 'create', principal];
    return execFileSync(process.execPath, [main, ...given], {
      cwd: join(folder, name),
      encoding: 'utf8',
      env,
    }).trim();
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'assize-python-conformance-'));
  });
  afterAll(async () => {
    for (const server of servers) await server.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  test('passes every scenario', async () => {
    const env: Record<string, string> = {};
    for (const [name, approvals] of [
      ['plain', ''],
      ['expiring', '\n  approvals: { timeoutMs: 1_000 },'],
    ] as const)
      env[name] = JSON.stringify([
        await serverIn(name, approvals),
        tokenIn(name, 'agent:ada'),
        tokenIn(name, 'manager:grace'),
      ]);
    const settings = Object.entries(env).map(
      ([name, text]) => `CONFORMANCE_${name.toUpperCase()}='${text}'`,
    );
    const report = await runConformance({
      driver: `${settings.join(' ')} exec python3 -B -m tests.conformance.gate_driver`,
      cwd: join(root, 'clients/python'),
    });
    expect(report.verdicts.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(report.verdicts.map(({ scenario }) => scenario)).toEqual(
      SCENARIOS.map(({ name }) => name),
    );
    expect(report.isConforming).toBe(true);
  }, 300_000);
});
