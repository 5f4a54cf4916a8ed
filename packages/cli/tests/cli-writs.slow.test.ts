/** `assize writ`: the output of each command on writs in files, and on writs of a ledger. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attenuate, type Writ, writId } from 'assize/internal/authority';
import { generateKeys } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import type { WritChain } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { type Ended, endOf, runCommand } from '../../../tests/support/process/command.ts';
import { budget } from '../src/domains/budget/index.ts';

const STORE = 'sqlite:./a.db';
const main = join(import.meta.dirname, '../src/main.ts');
const anchor = generateKeys(new Uint8Array(32).fill(7));
const lead = keysOf(11);
const helper = keysOf(12);
let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-writs-'));
  for (const [name, key] of Object.entries({ anchor, lead, helper }))
    writeFileSync(at(`${name}.key`), `${key.privateKey}\n`);
  writeFileSync(at('a.db.anchors.json'), JSON.stringify([anchor.publicKey]));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, 'writ', ...args);

/** With something on its standard input. */
function piped(input: string, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, [main, 'writ', ...args], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
  child.stdin.end(input);
  return endOf(child);
}

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

const held = (name: string): WritChain => JSON.parse(readFileSync(at(name), 'utf8'));

const terms = (...more: string[]): string[] => [
  ...['--key', 'anchor.key', '--subject', lead.publicKey, '--trajectory', 't', '--action', 'spend'],
  ...[
    '--action',
    'assize.revoke',
    '--scope',
    'role:spender:*',
    '--scope',
    'writ:**',
    '--budget',
    'calls=10',
  ],
  ...['--expires', '2100-01-01T00:00:00Z', '--max-depth', '3', ...more],
];

async function issued(): Promise<void> {
  expect((await assize('issue', ...terms('--out', 'lead.json'))).code).toBe(0);
  const child = [
    '--key',
    'lead.key',
    '--subject',
    helper.publicKey,
    '--scope',
    'role:spender:ann',
    '--budget',
    'calls=4',
  ];
  expect((await assize('attenuate', 'lead.json', ...child, '--out', 'helper.json')).code).toBe(0);
}

/**
 * A trajectory of the shipped domain with the issued writs, a use of each, and a delegated writ.
 */
async function begun(): Promise<{ lead: Writ; helper: Writ }> {
  await issued();
  const store = await openStore(`sqlite:${at('a.db')}`);
  const assize_ = runtimeOver(store, [budget], {
    anchors: [anchor.publicKey],
    ports: { clock: systemClock },
  });
  const [top, below] = [held('lead.json'), held('helper.json')];
  const trajectory = await assize_.create(budget, { trajectoryId: 't', writs: [top.writ] });
  for (const writ of [top, below]) {
    const role = { name: 'spender' as const, params: { agent: 'ann' } };
    expect(
      (await trajectory.propose({ action: 'spend', role, args: { amount: 5 }, writ })).ruling,
    ).toBe('committed');
  }
  const { privateKey } = helper;
  const more = { subject: 'last', childTrajectoryId: 'c', budget: { calls: 2 }, privateKey };
  await trajectory.delegations.delegate({ task: 'the rest', writ: below, ...more });
  await store.close();
  return { lead: top.writ, helper: below.writ };
}

test('key: made for its owner’s eyes, never overwritten', async () => {
  const { code, out } = await assize('key', 'new.key');
  expect([code, out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
  expect(statSync(at('new.key')).mode & 0o777).toBe(0o600);
  const text = readFileSync(at('new.key'), 'utf8');
  expect(generateKeys(Buffer.from(text.trim(), 'hex')).publicKey).toBe(out.trim());
  // Typed again it says the same, so that a script that begins with it can be run again.
  expect(await assize('key', 'new.key')).toEqual({ code: 0, out, err: '' });
  expect(readFileSync(at('new.key'), 'utf8')).toBe(text);
  const other = await json(0, 'key', 'other.key');
  expect(other).toMatchObject({ private_file: 'other.key', made: true });
  expect(await json(0, 'key', 'other.key')).toEqual({ ...other, made: false });
  writeFileSync(at('other.txt'), 'no key');
  const refused = await assize('key', 'other.txt');
  expect(refused).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('other.txt is not a private key'),
  });
  expect(readFileSync(at('other.txt'), 'utf8')).toBe('no key');
});

test('issue: from options, or from a file that options go before', async () => {
  await issued();
  expect(held('lead.json')).toMatchObject({
    chain: [],
    writ: {
      issuer: anchor.publicKey,
      subject: lead.publicKey,
      budget: { calls: 10 },
      max_depth: 3,
      parent: null,
    },
  });
  writeFileSync(
    at('grant.json'),
    JSON.stringify({
      subject: 'ann',
      actions: ['spend'],
      expires: '2100-01-01T00:00:00.000000Z',
      nonce: 'n',
    }),
  );
  const made = await assize(
    'issue',
    '--key',
    'anchor.key',
    '--from',
    'grant.json',
    '--subject',
    'bob',
  );
  expect(JSON.parse(made.out).writ).toMatchObject({
    subject: 'bob',
    actions: ['spend'],
    scopes: [],
    nonce: 'n',
  });
});

test('issue: an end with milliseconds, or a day in UTC', async () => {
  const made = (expires: string) =>
    assize(
      'issue',
      '--key',
      'anchor.key',
      '--subject',
      'ann',
      '--not-before',
      '2026-01-01',
      '--expires',
      expires,
    );
  for (const text of ['2027-12-31', '2027-12-31T00:00:00.000Z', '2027-12-31T00:00:00Z'])
    expect(JSON.parse((await made(text)).out).writ).toMatchObject({
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2027-12-31T00:00:00.000000Z',
    });
  expect(await made('2027-02-30')).toMatchObject({
    code: 2,
    err: expect.stringContaining('must be an instant'),
  });
});

test('a public key used as private signs nothing, a foreign issuer is reported', async () => {
  writeFileSync(at('anchor.pub'), `${anchor.publicKey}\n`);
  writeFileSync(at('lead.pub'), `${lead.publicKey}\n`);
  await issued();
  const why = ['--reason', 'to see'];
  for (const args of [
    ['issue', ...terms('--key', 'anchor.pub')],
    ['attenuate', 'lead.json', '--key', 'lead.pub', '--subject', 'x'],
    ['revoke', 't', 'lead.json', '--key', 'anchor.pub', ...why],
  ])
    expect(await assize(...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/contains a public key/),
    });
  expect((await assize('issue', ...terms())).err).toBe('');
  const { code, out, err } = await assize('issue', ...terms('--key', 'lead.pub'));
  expect(code).toBe(0);
  const { issuer } = JSON.parse(out).writ;
  expect(err).toMatch(
    new RegExp(`^assize: The issuer ${issuer} is not in \\./a\\.db\\.anchors\\.json\\. .*\\n$`),
  );
});

test('attenuate: the child carries its chain; a wider axis is refused by name', async () => {
  await issued();
  const { writ, chain } = held('helper.json');
  expect([writ.issuer, writ.budget, writ.max_depth]).toEqual([lead.publicKey, { calls: 4 }, 2]);
  expect(chain).toEqual([held('lead.json').writ]);
  const wider = [
    'attenuate',
    'lead.json',
    '--key',
    'lead.key',
    '--subject',
    'x',
    '--budget',
    'calls=11',
  ];
  expect(await assize(...wider)).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('budget exceeds'),
  });
  const over = [
    'attenuate',
    'lead.json',
    '--key',
    'lead.key',
    '--subject',
    'x',
    '--trajectory',
    'u',
  ];
  expect(await assize(...over)).toMatchObject({
    code: 2,
    err: expect.stringContaining('trajectory exceeds'),
  });
  expect(JSON.parse((await assize(...over, '--delegate')).out).writ).toMatchObject({
    trajectory: 'u',
    budget: {},
  });
  const made = await piped(
    readFileSync(at('lead.json'), 'utf8'),
    'attenuate',
    '-',
    '--key',
    'lead.key',
    '--subject',
    'x',
  );
  expect(JSON.parse(made.out).writ.issuer).toBe(lead.publicKey);
});

test('show: a file, the root first, with nothing unseen in it', async () => {
  const odd = attenuate(
    writFor(lead.publicKey),
    { subject: 'a\u001b[31m\u202eb', nonce: 'n' },
    lead.privateKey,
  );
  writeFileSync(at('odd.json'), JSON.stringify({ writ: odd, chain: [writFor(lead.publicKey)] }));
  const { code, out } = await assize('show', 'odd.json');
  expect(code).toBe(0);
  for (const unseen of ['\u001b', '\u202e']) expect(out).not.toContain(unseen);
  expect(out.split('\n').filter((line) => line.includes('→'))).toEqual([
    expect.stringContaining(`→ ${lead.publicKey.slice(0, 12)}`),
    expect.stringContaining('→ a\\u001b[31m\\u202eb'),
  ]);
  const said = await json(0, 'show', 'odd.json');
  expect(said.lineage).toEqual([writId(odd), writId(writFor(lead.publicKey))]);
  expect((await piped(JSON.stringify(odd), 'show', '-')).code).toBe(0);
});

test('show --in: granted, spent and remaining amounts, and revocations', async () => {
  const writs = await begun();
  const said = await json(0, 'show', '--in', 't');
  expect(said.writs).toMatchObject([
    {
      id: writId(writs.lead),
      lineage: [writId(writs.lead)],
      granted: { calls: 10 },
      spent: { calls: 2 },
      left: { calls: 8 },
    },
    {
      id: writId(writs.helper),
      lineage: [writId(writs.helper), writId(writs.lead)],
      spent: { calls: 2 },
      left: { calls: 2 },
    },
  ]);
  const one = await assize('show', '--in', 't', writId(writs.helper).slice(0, 8));
  expect(one.out).toMatch(
    /spent +2 calls; reserved: none; left: 2 calls\n +ancestors +[0-9a-f]{12}\n$/,
  );
  expect(one.out).not.toContain('revoked');
  const child = await json(0, 'show', '--in', 'c');
  expect(child.writs.find(({ delegated }: any) => delegated)).toMatchObject({
    granted: { calls: 2 },
    left: { calls: 2 },
  });
  expect(await assize('show', '--in', 't', 'abcdef12')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no writ'),
  });
  expect(await assize('show', '--in', 'nowhere')).toMatchObject({
    code: 2,
    err: expect.stringContaining('nowhere'),
  });
});

test('revoke: by an ancestor’s holder, the anchor, repeated; children listed', async () => {
  const writs = await begun();
  const id = writId(writs.helper);
  const why = ['--reason', 'the key is lost'];
  const byLead = ['--key', 'lead.key', '--by', 'lead.json', ...why];
  const { code, out, err } = await assize('revoke', 't', id.slice(0, 8), ...byLead);
  expect({ code, out, err }).toEqual({
    code: 0,
    out: expect.stringMatching(
      new RegExp(`^revoked ${id.slice(0, 12)} by [0-9a-f]{12}, t seq 4\n  applied in c\n$`),
    ),
    err: '',
  });
  const log = await runCommand(folder, STORE, 'log', 't');
  expect(log.out).toMatch(
    new RegExp(`assize\\.revoke +committed +writ ${id.slice(0, 12)}: the key is lost\\n$`),
  );
  const again = await json(0, 'revoke', 't', 'helper.json', '--key', 'anchor.key', ...why);
  expect(again).toMatchObject({
    ruling: 'committed',
    writ: id,
    seq: 4,
    propagated: [{ trajectory_id: 'c', applied: true }],
  });
  const shown = await json(0, 'show', '--in', 't', id);
  expect(shown.writs).toMatchObject([{ revoked: { writ: id, by: again.entry_id } }]);
  const child = await assize('show', '--in', 'c');
  expect(child.out).toMatch(
    new RegExp(`revoked by [0-9a-f]{12}, with its ancestor ${id.slice(0, 12)}`),
  );
  expect(await json(0, 'revoke', 't', 'lead.json', '--key', 'anchor.key', ...why)).toMatchObject({
    seq: 5,
  });
});

test('revoke: refused is negative, a key that is not the holder’s is misuse', async () => {
  await begun();
  const why = ['--reason', 'to see'];
  const refused = await json(
    1,
    'revoke',
    't',
    'lead.json',
    '--key',
    'helper.key',
    '--by',
    'helper.json',
    ...why,
  );
  expect(refused).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
  const text = await assize(
    'revoke',
    't',
    'lead.json',
    '--key',
    'helper.key',
    '--by',
    'helper.json',
    ...why,
  );
  expect(text).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^rejected as [0-9a-f]{12}: /),
  });
  for (const [args, message] of [
    [['--key', 'helper.key', '--by', 'lead.json'], /The key does not belong to/],
    [['--key', 'helper.key'], /Pass the private key of an anchor to revoke without --by/],
  ] as const)
    expect(await assize('revoke', 't', 'helper.json', ...args, ...why)).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    });
});

test('verify: each link, the time, the use, and the record in the ledger', async () => {
  const writs = await begun();
  const { code, out } = await assize('verify', 'helper.json');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^signed .*\nsigned .*\nThe writ is valid\.\n$/),
  ]);
  const use = ['verify', 'helper.json', '--action', 'spend', '--scope'];
  expect(await assize(...use, 'role:spender:ann')).toMatchObject({
    code: 0,
    out: expect.stringContaining('grants spend'),
  });
  const refusals: [string[], string, boolean][] = [
    [['--action', 'spend', '--scope', 'role:spender:bob'], 'scope_not_granted', true],
    [['--action', 'book'], 'action_not_granted', true],
    [['--at', '2200-01-01T00:00:00Z'], 'expired', false],
    [['--at', '2000-01-01'], 'not_yet_valid', false],
    [['--principal', 'mallory'], 'wrong_principal', true],
    [['--trajectory', 'u'], 'wrong_trajectory', true],
    [['--in', 'c'], 'wrong_trajectory', true],
  ];
  for (const [args, code, valid] of refusals)
    expect(await json(1, 'verify', 'helper.json', ...args)).toMatchObject({
      valid,
      granted: false,
      problem: { code },
    });
  const { out: refused } = await assize('verify', 'helper.json', '--action', 'book');
  expect(refused).toMatch(
    /^signed .*\nsigned .*\nThe writ is valid, and does not grant the use: .*book\. \(action_not/,
  );
  const expired = await assize('verify', 'helper.json', '--at', '2200-01-01');
  expect(expired.out).toMatch(/^signed .*\nsigned .*\nThe writ is not valid: .* \(expired\)\n$/);
  expect((await json(0, 'verify', 'helper.json', '--in', 't')).valid).toBe(true);
  await assize('revoke', 't', writId(writs.lead), '--key', 'anchor.key', '--reason', 'lost');
  const said = await json(1, 'verify', 'helper.json', '--in', 't');
  expect(said).toMatchObject({
    problem: { code: 'revoked' },
    links: [{ revoked: true }, { revoked: true }],
  });
  const text = await assize('verify', 'helper.json', '--in', 't');
  expect(text.out).toMatch(/^revoked {2}\S+ .*\nrevoked {2}\S+ .*\nThe writ is not valid: /);
});

test('verify: an ancestor of a revoked writ holds', async () => {
  const writs = await begun();
  await assize('revoke', 't', writId(writs.helper), '--key', 'anchor.key', '--reason', 'lost');
  const { code, out } = await assize('verify', 'helper.json', '--in', 't');
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^signed {2}\S+ .*\nrevoked {2}\S+ .*\nThe writ is not valid: /),
  ]);
  expect((await json(0, 'verify', 'lead.json', '--in', 't')).links[0]).not.toHaveProperty(
    'revoked',
  );
});

test('verify: a forged link, a foreign root, a missing ancestor', async () => {
  await issued();
  const { writ, chain } = held('helper.json');
  const forged = { chain, writ: { ...writ, budget: { calls: 9 } } };
  writeFileSync(at('forged.json'), JSON.stringify(forged));
  const text = await assize('verify', 'forged.json');
  expect(text).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^signed .*\nfails .*\(bad_signature\)\nThe writ is not valid: /),
  });
  writeFileSync(at('alone.json'), JSON.stringify(writ));
  expect(await json(1, 'verify', 'alone.json')).toMatchObject({
    problem: { code: 'broken_chain' },
  });
  writeFileSync(at('none.json'), '[]');
  expect(await json(1, 'verify', 'helper.json', '--anchors', 'none.json')).toMatchObject({
    problem: { code: 'unknown_anchor' },
    links: [{ valid: false }, { valid: false }],
  });
});

test.each<[string, string[], RegExp]>([
  [
    'no subject',
    ['issue', '--key', 'anchor.key', '--expires', '2100-01-01T00:00:00Z'],
    /--subject/,
  ],
  ['no end', ['issue', '--key', 'anchor.key', '--subject', 'x'], /--expires/],
  ['an invalid time', ['issue', '--key', 'anchor.key', '--expires', 'soon'], /must be an instant/],
  ['an invalid budget', ['issue', ...terms('--budget', 'calls')], /UNIT=AMOUNT/],
  ['an invalid name', ['issue', ...terms('--scope', 'fs:/a/../b')], /scopes.*\.\./],
  ['no key', ['issue', '--key', 'no.key'], /cannot be read/],
  ['an invalid key', ['issue', ...terms('--key', 'a.db.anchors.json')], /is not a private key/],
  ['no file', ['show', 'no.json'], /the file does not exist/],
  ['nothing to show', ['show'], /--in/],
  ['no writ', ['show', 'a.db.anchors.json'], /The writ is not valid/],
  [
    'another’s key',
    ['attenuate', 'lead.json', '--key', 'helper.key', '--subject', 'x'],
    /does not belong to the issuer/,
  ],
  ['a scope without an action', ['verify', 'lead.json', '--scope', 'x'], /--action/],
])('misuse is one sentence: %s', async (_what, args, message) => {
  await issued();
  const { code, out, err } = await assize(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test('a file that is there is never overwritten', async () => {
  await issued();
  const before = readFileSync(at('lead.json'), 'utf8');
  expect(await assize('issue', ...terms('--out', 'lead.json'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('a writ is never overwritten'),
  });
  expect(readFileSync(at('lead.json'), 'utf8')).toBe(before);
});
