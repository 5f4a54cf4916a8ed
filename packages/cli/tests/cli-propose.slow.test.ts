/** `assize create` and `assize propose`: an operator seeds a trajectory and tries its rules. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const STORE = 'sqlite:./claims.db';
const DOMAIN = `
import { call, defineDomain, escalate, pass, reject } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { DidNothing, declareTool } from '${pathToFileURL(join(root, 'packages/assize/src/public/effects.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
import { appendFileSync } from 'node:fs';
export const bank = declareTool({
  name: 'bank.pay',
  input: z.object({ cents: z.number() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:**'],
  execute: ({ cents }) => {
    if (cents === 13) throw new DidNothing('closed', { final: true });
    if (cents === 14) throw new Error('the line went dead');
    appendFileSync(new URL('bank.txt', import.meta.url), cents + '\\n');
  },
});
export const claims = defineDomain({
  name: 'claims',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ claims: z.record(z.string(), z.number()) }),
  initial: { claims: {} },
  processes: { claiming: { writes: ['/claims/{desk}'] } },
  roles: { clerk: { params: ['desk'], processes: ['claiming'] } },
  actions: {
    claim: {
      process: 'claiming',
      args: z.object({ cents: z.number().int(), pay: z.boolean().default(false) }),
      apply: (state, { cents }, { role }) => { state.claims[role.desk] = cents; },
      calls: (_state, { cents, pay }) => (pay ? [call(bank, { cents })] : []),
      onFailure: () => ({ action: 'undo', args: {} }),
    },
    undo: {
      process: 'claiming',
      args: z.object({}),
      apply: (state, _, { role }) => { state.claims[role.desk] = 0; },
    },
  },
  invariants: ({ each }) => [
    each('LIMIT', '/claims/*', {}, (cents) =>
      cents > 100 ? reject('more than 100') : cents > 50 ? escalate('more than 50') : pass),
  ],
  freeze: 'world',
  counselors: { boss: (principal) => principal === 'boss' },
});
`;
let folder: string;

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, ...args);
const propose = (cents: number, ...more: string[]): string[] => {
  const what = [
    'propose',
    'c',
    'claim',
    '--role',
    'clerk',
    '--params',
    '{"desk":"a"}',
    '--writ',
    'clerk.json',
  ];
  return [...what, '--args', JSON.stringify({ cents }), '--domain', 'claims.ts', ...more];
};

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-propose-'));
  writeFileSync(join(folder, 'claims.ts'), DOMAIN);
  const { public_key } = await json(0, 'writ', 'key', 'root.key');
  writeFileSync(join(folder, 'claims.db.anchors.json'), JSON.stringify([public_key]));
  const grant = ['--action', '**', '--scope', '**', '--max-depth', '0', '--expires', '2100-01-01'];
  await assize(
    'writ',
    'issue',
    '--key',
    'root.key',
    '--subject',
    'clerk',
    ...grant,
    '--out',
    'clerk.json',
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('create', () => {
  test('makes the store and the trajectory, with state and writs', async () => {
    const initial = ['--initial', '{"claims":{"z":7}}', '--writ', 'clerk.json', '--note', 'seeded'];
    expect(await json(0, 'create', 'c', '--domain', 'claims.ts', ...initial)).toEqual({
      trajectory_id: 'c',
      entry_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      domain: { name: 'claims', version: '1', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(await json(0, 'state', 'c')).toMatchObject({ state: { claims: { z: 7 } } });
    expect((await json(0, 'show', 'c@0')).payload.writs).toHaveLength(1);
    expect((await json(2, 'create', 'c', '--domain', 'claims.ts')).error.code).toBe('exists');
    expect((await json(0, 'verify', '--deep', '--domain', 'claims.ts')).valid).toBe(true);
  });

  test('makes a root key without a config, and an agent acts under it', async () => {
    rmSync(join(folder, 'claims.db.anchors.json'));
    const made = await assize('create', 'demo', '--domain', 'budget');
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('Created the root key') });
    const spend = ['--role', 'spender', '--params', '{"agent":"ada"}', '--args', '{"amount":1}'];
    const { code, out } = await assize('propose', 'demo', 'spend', ...spend, '--as', 'agent:ada');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^committed as /) });
  });

  test.each([
    [
      'a state that breaks a rule',
      ['--domain', 'claims.ts', '--initial', '{"claims":{"z":101}}'],
      /more than 100/,
    ],
    [
      'a state of another form',
      ['--domain', 'claims.ts', '--initial', '{"claims":{"z":"x"}}'],
      /claims/,
    ],
    ['text that is not JSON', ['--domain', 'claims.ts', '--initial', '{claims}'], /It is not JSON/],
    ['an unknown domain', ['--domain', 'nothing.ts'], /nothing\.ts/],
    ['no domain', [], /--domain/],
  ])('refuses %s', async (_, args, says) => {
    const { code, err } = await assize('create', 'c', ...args);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
  });
});

describe('propose', () => {
  beforeEach(() => assize('create', 'c', '--domain', 'claims.ts'));

  test('commits, rejects, waits and is frozen, in text and with exit codes', async () => {
    const committed = await assize(...propose(40));
    expect(committed).toEqual({
      code: 0,
      out: expect.stringMatching(/^committed as [0-9a-f]{12}, c seq 1\n$/),
      err: '',
    });
    const rejected = await assize(...propose(500));
    expect(rejected.out).toMatch(
      /^rejected as [0-9a-f]{12}, c seq 2: .*more than 100.* \(LIMIT\)\n$/,
    );
    const pending = await assize(...propose(60));
    expect(pending.out).toMatch(
      /^pending for any as [0-9a-f]{12}, c seq 3: .*more than 50.* \(LIMIT\)\n.*assize approve [0-9a-f]{12} --as PRINCIPAL --domain \S+\.ts\.\n/,
    );
    const frozen = await assize(...propose(41));
    expect(frozen.out).toMatch(/^frozen by [0-9a-f]{12}: .*nothing is recorded\n$/);
    expect([rejected, pending, frozen].map(({ code }) => code)).toEqual([1, 1, 1]);
  });

  test('answers as one document', async () => {
    const committed = await json(0, ...propose(40, '--key', 'k1'));
    expect(committed).toMatchObject({ ruling: 'committed', trajectory_id: 'c', seq: 1 });
    expect(await json(0, ...propose(40, '--key', 'k1'))).toEqual(committed);
    expect((await json(2, ...propose(41, '--key', 'k1'))).error).toEqual({
      code: 'idempotency_conflict',
      message: `The idempotency key k1 was used for another intent: entry ${committed.entry_id}, c seq 1. Nothing was done. Use a new key only for a different request.`,
    });
    expect(await json(1, ...propose(500))).toMatchObject({
      ruling: 'rejected',
      invariant_id: 'LIMIT',
      findings: [],
    });
    const misfits = ['--args', '{"cents":"x","more":1}'];
    expect(
      (await json(1, ...propose(1, ...misfits))).findings.map((each: any) => each.pointer).sort(),
    ).toEqual(['', '/cents']);
    const pending = await json(1, ...propose(60));
    expect(pending).toMatchObject({ ruling: 'escalated', channel: 'any', approvals: 1 });
    expect(await json(1, ...propose(41))).toMatchObject({ ruling: 'frozen', by: pending.entry_id });
    expect(
      await json(0, 'approve', 'c@4', '--as', 'boss', '--override', '--domain', 'claims.ts'),
    ).toMatchObject({
      ruling: 'committed',
    });
  });

  test('makes the calls of the action with the tools', async () => {
    const args = ['--args', '{"cents":40,"pay":true}'];
    expect((await json(2, ...propose(1, ...args))).error.message).toContain('--tools');
    const made = await json(0, ...propose(1, ...args, '--tools', 'claims.ts'));
    expect(made).toMatchObject({
      effects: 'settled',
      calls: [{ tool: 'bank.pay', phase: 'applied' }],
    });
    const { code, out } = await assize(
      ...propose(1, '--args', '{"cents":41,"pay":true}', '--tools', 'claims.ts'),
    );
    expect([code, out]).toEqual([0, expect.stringMatching(/\nbank\.pay is applied\.\n$/)]);
    expect(readFileSync(join(folder, 'bank.txt'), 'utf8')).toBe('40\n41\n');
  });

  test.each([
    [
      13,
      'blind',
      /\nThe call was not made, or undone\. See: assize effects list c --all\n$/,
      ['list', 'c', '--all'],
    ],
    [14, 'blind', /\nThe call needs a human decision: assize effects list c\n$/, ['list', 'c']],
  ])('an unsettled call of %i at a sink names its list', async (cents, sink, says, list) => {
    const domain = readFileSync(join(folder, 'claims.ts'), 'utf8');
    writeFileSync(join(folder, 'claims.ts'), domain.replace("sink: 'keyed'", `sink: '${sink}'`));
    const line = propose(
      1,
      '--args',
      JSON.stringify({ cents, pay: true }),
      '--tools',
      'claims.ts',
      '--key',
      'k',
    );
    const [first, again] = [await assize(...line), await assize(...line)];
    for (const { code, out } of [first, again])
      expect([code, out]).toEqual([1, expect.stringMatching(says)]);
    expect((await assize('effects', ...list)).out).toContain('bank.pay');
  });

  test('needs anchors, a writ, and a trajectory that exists', async () => {
    expect((await json(2, ...propose(1, '--writ', 'none.json'))).error.code).toBe(
      'unreadable_file',
    );
    const elsewhere = propose(1).with(1, 'x');
    expect((await json(2, ...elsewhere)).error.message).toContain('no trajectory x');
    rmSync(join(folder, 'claims.db.anchors.json'));
    expect((await json(2, ...propose(1))).error.message).toContain('Pass --anchors FILE');
  });
});

describe('a signed ledger', () => {
  const signed = async () => {
    const { public_key: key } = await json(0, 'writ', 'key', 'entries.key');
    await json(0, 'writ', 'key', 'wrong.key');
    await json(0, 'create', 'c', '--domain', 'claims.ts', '--signer', 'entries.key');
    return key as string;
  };

  test('propose names the options that have its key', async () => {
    const key = await signed();
    const trusted = `Pass --entry-key ${key}, or the --signer of the ledger.`;
    expect((await json(2, ...propose(4, '--signer', 'wrong.key'))).error).toEqual({
      code: 'wrong_signer',
      message: `This runtime does not trust the key of the ledger: c seq 0: the entry is signed with ${key}, which is not one of the named keys (place.named). ${trusted}`,
    });
    const advice =
      'Pass the private key of the ledger with --signer, or record a new key first with assize keys change.';
    expect((await json(2, ...propose(4))).error.message).toBe(
      `The entries of c are signed with ${key}, and this runtime has no signer. ${advice}`,
    );
    const other = await json(2, ...propose(4, '--signer', 'wrong.key', '--entry-key', key));
    expect(other.error.message).toMatch(
      /and this runtime signs with [0-9a-f]{64}\. Pass the private key/,
    );
    await json(0, ...propose(4, '--signer', 'entries.key'));
  });

  test('keys change asks for the key in force, and for one target', async () => {
    const key = await signed();
    const change = ['keys', 'change', '--to', 'root.key', '--reason', 'rotation'];
    for (const from of [[], ['--from', 'wrong.key']])
      expect((await json(2, ...change, 'c', ...from)).error).toEqual({
        code: 'wrong_signer',
        message: `The entries of c are signed with ${key}. Pass its private key with --from.`,
      });
    expect((await json(2, ...change, 'c', '--all')).error.message).toBe(
      'Pass a trajectory or --all, not both.',
    );
    expect((await json(2, ...change)).error.message).toBe(
      'Name a trajectory whose key changes, or pass --all.',
    );
    expect(await json(0, ...change, 'c', '--from', 'entries.key')).toMatchObject({
      changed: [{ seq: 1 }],
    });
  });
});
