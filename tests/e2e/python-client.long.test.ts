/** clients/python: its own tests, and the same against a server. Values have the same hashes. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCallIdOf } from '#calls';
import { canonicalize, contentHash } from '#canon';
import { jsonValue } from '../json-values.ts';
import { type ListeningServer, startServer } from '../support/process/listening-server.ts';
import { hasPython } from '../support/process/python-verifier.ts';

const root = join(import.meta.dirname, '../..');
const client = join(root, 'clients/python');
const main = join(root, 'packages/cli/src/main.ts');

const CONFIG = `
export default {
  policy: './assize.yaml',
  worlds: { calls: { domain: 'gateway' } },
  server: { limits: { requestsPerSecond: 10_000, concurrency: 100 } },
  principals: {
    'agent:ada': {
      kinds: ['agent'],
      grants: [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }],
    },
    'manager:grace': { kinds: ['counselor'] },
    'auditor:iris': { kinds: ['auditor'] },
  },
};
`;
const RULES = `
id: shop
tools:
  bank/look: { class: read }
  bank/pay: { class: irreversible }
rules:
  - { id: look, allow: bank/look }
  - { id: small, allow: bank/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: bank/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: bank/pay, where: [{ path: /to, is: mallory }] }
`;

/** The end of a run of unittest, with the count of its tests. */
async function unittest(env: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const child = spawn(
    'python3',
    ['-B', '-W', 'error', '-m', 'unittest', 'discover', ...args, '-t', '.'],
    {
      cwd: client,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  return said;
}

describe.skipIf(!hasPython)('the client in Python', () => {
  let folder: string;
  let server: ListeningServer;

  const assize = (...args: string[]): string =>
    execFileSync(process.execPath, [main, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ASSIZE_STORE: 'sqlite:./calls.db' },
    });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'assize-python-client-'));
    writeFileSync(join(folder, 'assize.config.ts'), CONFIG);
    writeFileSync(join(folder, 'assize.yaml'), RULES);
    server = await startServer(folder, ['--port', '0'], {
      env: { ASSIZE_STORE: 'sqlite:./calls.db' },
    });
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  test('passes its own tests', async () => {
    expect(await unittest({}, '-s', 'tests')).toMatch(/Ran [7-9]\d tests in .*\n\nOK\n$/);
  });

  test('keeps its guarantees at a server, and the ledger verifies', async () => {
    const said = await unittest(
      {
        ASSIZE_URL: server.url,
        TOKEN_OF_AGENT: assize('token', 'create', 'agent:ada').trim(),
        TOKEN_OF_PERSON: assize('token', 'create', 'manager:grace').trim(),
        TOKEN_OF_AUDITOR: assize('token', 'create', 'auditor:iris').trim(),
      },
      ...['-s', 'tests/server', '-p', 'check_*.py'],
    );
    expect(said).toMatch(/Ran 2\d tests in .*\n\nOK\n$/);
    expect(assize('verify')).toMatch(/valid/);
  });

  test('gives values and calls the same texts, hashes and ids', () => {
    const id = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_.:-]{1,120}$/),
      fc.string({ unit: 'grapheme' }),
    );
    const values = fc.sample(
      fc.record({
        value: jsonValue,
        number: fc.double({ noNaN: true, noDefaultInfinity: true }),
        id: fc.tuple(id, id),
      }),
      { numRuns: 400, seed: 45 },
    );
    const { stdout } = spawnSync('python3', ['-B', '-m', 'tests.echo_canonical'], {
      cwd: client,
      encoding: 'utf8',
      input: values.map((value) => `${JSON.stringify(value)}\n`).join(''),
      maxBuffer: 2 ** 26,
    });
    const said = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(said).toHaveLength(values.length);
    values.forEach((value, i) => {
      const isSafe = Math.abs(value.number) <= Number.MAX_SAFE_INTEGER;
      const [run, call] = value.id;
      expect(said[i]).toEqual(
        isSafe ? [canonicalize(value), contentHash(value), runCallIdOf(run, call)] : ['/number'],
      );
    });
    expect(said.filter((one) => one.length === 1).length).toBeGreaterThan(10);
    expect(said.filter((one) => one.length === 3).length).toBeGreaterThan(100);
  });
});
