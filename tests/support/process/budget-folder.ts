import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { openUnguarded } from '../ledger/unguarded.ts';
import { type Ended, runCommand } from './command.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * A till: payments over 100 need the boss, and more than 1,000 in all is refused. Its ledger has
 * one of each ruling.
 */
const TILL = `
import { defineDomain, escalate, pass, reject } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
export const till = defineDomain({
  name: 'till',
  version: '1',
  state: z.object({ payments: z.array(z.object({ amount: z.number(), memo: z.string(), by: z.string().optional() })) }),
  initial: { payments: [] },
  processes: { paying: { writes: ['/payments'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ amount: z.number(), memo: z.string() }),
      apply: (state, args) => { state.payments.push(args); },
    },
  },
  invariants: ({ invariant, each }) => [
    invariant('CAP', ['/payments'], ({ payments }) =>
      payments.reduce((sum, { amount }) => sum + amount, 0) <= 1000 ? pass : reject('more than 1000 in all')),
    each('LARGE', '/payments/*', {
      channel: 'boss',
      onApprove: (state, { counselor, keys: [i] }) => { state.payments[Number(i)].by = counselor; },
    }, ({ amount, by }) => (amount <= 100 || by !== undefined ? pass : escalate('over 100'))),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
});
`;

const MAKE_LEDGER = `
import { writeFileSync } from 'node:fs';
import { Assize, generateKeys, issueWrit, openStore } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { writeAnchors } from '${pathToFileURL(join(root, 'packages/command/src/store/anchors.ts'))}';
import { till } from './till.ts';
const store = await openStore('sqlite:./till.db');
const keys = generateKeys();
writeAnchors('sqlite:./till.db', [keys.publicKey]);
writeFileSync('till.key', keys.privateKey);
const writ = issueWrit({
  issuer: keys.publicKey, subject: 'agent:clerk', actions: ['pay'], scopes: ['role:clerk'], max_depth: 0, nonce: '1',
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z',
}, keys.privateKey);
const assize = new Assize({ store, domains: [till], anchors: [keys.publicKey] });
const trajectory = await assize.create(till, { trajectoryId: 'till-1', writs: [writ], note: 'monday' });
const pay = (amount, memo) => trajectory.propose({ action: 'pay', role: 'clerk', args: { amount, memo }, writ });
await pay(50, 'paper');
await pay(5000, 'a yacht');
await pay(20, 'x'.repeat(20000));
await pay(60, '\\u001b[31mred\\u202e\\u200b');
await pay(500, 'a desk');
await store.close();
`;

/**
 * The command in a separate folder for each test of a file, with the ledger of a till on request.
 * Call this once per file.
 */
export function inTillFolder() {
  let made: string;
  let folder: string;

  beforeAll(async () => {
    made = mkdtempSync(join(tmpdir(), 'assize-cli-made-'));
    writeFileSync(join(made, 'till.ts'), TILL);
    writeFileSync(join(made, 'make.ts'), MAKE_LEDGER);
    const child = spawn(process.execPath, ['make.ts'], {
      cwd: made,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  afterAll(() => {
    rmSync(made, { recursive: true, force: true });
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'assize-cli-'));
  });

  afterEach(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true, force: true });
  });

  const assize = (...args: string[]): Promise<Ended> => runCommand(folder, undefined, ...args);

  /** As JSON, having ended with that code. */
  async function json(code: number, ...args: string[]): Promise<any> {
    const { code: found, out, err } = await assize(...args, '--json');
    expect({ code: found, err }, out).toEqual({ code, err: '' });
    return JSON.parse(out);
  }

  /**
   * One sentence on standard error, exit 2; with --json the same as a document. The document may
   * have the misfits of an input one by one.
   */
  async function refused(args: readonly string[], saying: RegExp): Promise<void> {
    const [{ code, out, err }, again] = await Promise.all([
      assize(...args),
      assize(...args, '--json'),
    ]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^assize: [^\n]+\n$/);
    expect(err).toMatch(saying);
    expect(again.code).toBe(2);
    const { findings = [], ...error } = JSON.parse(again.out).error;
    expect(error).toEqual({
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.any(String),
    });
    for (const each of findings)
      expect(each).toEqual({ pointer: expect.any(String), message: expect.any(String) });
    expect(again.err.trimEnd()).toBe(err.trimEnd());
  }

  function file(name: string, text: string | Uint8Array): string {
    writeFileSync(join(folder, name), text);
    return name;
  }

  /** The made ledger, in this test's folder. */
  function till(): string[] {
    for (const name of ['till.db', 'till.db.anchors.json', 'till.ts'])
      copyFileSync(join(made, name), join(folder, name));
    return ['--store', 'sqlite:./till.db'];
  }

  /** The private key of the ledger's anchor, in this test's folder. */
  function anchorKey(): string {
    copyFileSync(join(made, 'till.key'), join(folder, 'till.key'));
    return 'till.key';
  }

  function change(sql: string, ...values: (string | number)[]): void {
    const db = openUnguarded(join(folder, 'till.db'));
    expect(db.prepare(sql).run(...values).changes).toBe(1);
    db.close();
  }

  async function entries(...store: string[]): Promise<{ id: string; kind: string; seq: number }[]> {
    return (await json(0, 'log', 'till-1', ...store)).log;
  }

  return {
    /** Of the test that is running. */
    get folder(): string {
      return folder;
    },
    assize,
    json,
    refused,
    file,
    till,
    anchorKey,
    change,
    entries,
  };
}
