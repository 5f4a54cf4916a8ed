/** How the command erases values and reports erasures, over the ledger of a clinic. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { type Ended, endOf, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const assizeModule = pathToFileURL(join(root, 'packages/assize/src/public/index.ts'));
const main = join(root, 'packages/cli/src/main.ts');
const anchor = keysOf(31);

/**
 * Names and notes are sensitive; an urgent note needs a doctor; a patient under observation keeps
 * the name.
 */
const CLINIC = `
import { defineDomain, escalate, isErased, pass, reject, sensitive } from '${assizeModule}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
const patient = z.object({
  name: sensitive(z.string()), observed: z.boolean(), urgent: z.boolean(), notes: z.array(sensitive(z.string())),
});
export const clinic = defineDomain({
  name: 'clinic',
  version: '1',
  state: z.object({ patients: z.record(z.string(), patient) }),
  initial: { patients: {} },
  counselors: { md: (principal) => principal.startsWith('dr-') },
  processes: { caring: { writes: ['/patients/{id}'] } },
  roles: { nurse: { params: ['id'], processes: ['caring'] } },
  actions: {
    admit: {
      process: 'caring',
      args: z.object({ name: sensitive(z.string()), observed: z.boolean().default(false) }),
      apply: (state, { name, observed }, { role }) => {
        state.patients[role.id] = { name, observed, urgent: false, notes: [] };
      },
    },
    note: {
      process: 'caring',
      args: z.object({ text: sensitive(z.string()), urgent: z.boolean().default(false) }),
      apply: (state, { text, urgent }, { role }) => {
        const who = state.patients[role.id];
        if (who === undefined) throw new Error('there is no such patient');
        who.notes.push(text);
        who.urgent = urgent;
      },
    },
  },
  invariants: ({ each }) => [
    each('OBSERVED_HAS_A_NAME', '/patients/*', {}, ({ name, observed }) =>
      observed && isErased(name) ? reject('who is under observation has a name') : pass),
    each('URGENT', '/patients/*', { channel: 'md', onApprove: (state, { keys: [id] }) => { state.patients[id].urgent = false; } },
      ({ urgent }) => (urgent ? escalate('a doctor has to look') : pass)),
  ],
});
`;

const MAKE = `
import { Assize, issueWrit, openStore } from '${assizeModule}';
import { clinic } from './clinic.ts';
const store = await openStore('sqlite:./clinic.db');
const [publicKey, privateKey] = process.argv.slice(2);
const writ = issueWrit({
  issuer: publicKey, subject: 'agent:nurse', actions: ['admit', 'note'], scopes: ['role:nurse:*'], max_depth: 0, nonce: '1',
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z',
}, privateKey);
const assize = new Assize({ store, domains: [clinic], anchors: [publicKey] });
const trajectory = await assize.create(clinic, { trajectoryId: 'ward', writs: [writ] });
const act = (action, id, args) => trajectory.propose({ action, role: { name: 'nurse', params: { id } }, args, writ });
await act('admit', 'p1', { name: 'David Miller' });
await act('admit', 'p2', { name: 'Maria', observed: true });
await act('note', 'p1', { text: 'David fell' });
await act('note', 'p9', { text: 'David again' });
await assize.create(clinic, { trajectoryId: 'empty', writs: [writ] });
const frozen = await assize.create(clinic, { trajectoryId: 'frozen', writs: [writ] });
const there = (action, args) => frozen.propose({ action, role: { name: 'nurse', params: { id: 'p1' } }, args, writ });
await there('admit', { name: 'Ann' });
await there('note', { text: 'Ann is worse', urgent: true });
await store.close();
`;

const made = mkdtempSync(join(tmpdir(), 'assize-cli-erasure-'));
let folder: string;

beforeAll(async () => {
  writeFileSync(join(made, 'clinic.ts'), CLINIC);
  writeFileSync(join(made, 'make.ts'), MAKE);
  writeFileSync(join(made, 'clinic.db.anchors.json'), JSON.stringify([anchor.publicKey]));
  writeFileSync(join(made, 'anchor.key'), `${anchor.privateKey}\n`);
  writeFileSync(join(made, 'other.key'), `${keysOf(32).privateKey}\n`);
  writeFileSync(join(made, 'no.key'), 'a key\n');
  const child = spawn(process.execPath, ['make.ts', anchor.publicKey, anchor.privateKey], {
    cwd: made,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});
afterAll(() => rmSync(made, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-erasure-'));
  cpSync(made, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./clinic.db', ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

const asked = (trajectory: string, ...args: string[]): string[] => [
  'erase',
  trajectory,
  ...['--reason', 'she asked for it', '--key', 'anchor.key', '--domain', 'clinic.ts'],
  ...args,
];

const erase = (trajectory: string, ...args: string[]): string[] =>
  asked(trajectory, '--yes', ...args);

test('erases a path and an entry, reports the count; other commands show it', async () => {
  const { log } = await json(0, 'log', 'ward');
  const refused = log.at(-1).id as string;
  const shown = await assize('show', log[1].id, '--blobs');
  expect(shown.out).toMatch(/\/delta\/state\/1\/value, \d+ bytes\n"David Miller"\n/);
  expect((await assize('show', log[1].id)).out).toMatch(
    /\/action\/args is a sensitive blob of \d+ bytes; --blobs/,
  );
  expect((await assize('verify', 'ward')).out).not.toMatch(/erased|delegated/);

  const { code, out } = await assize(
    ...erase('ward', '--at', '/patients/p1', '--entry', refused.slice(0, 12)),
  );
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^erased 5 values of 3 entries, by [0-9a-f]{12}, ward seq 5\n$/),
  });

  const { log: after } = await json(0, 'log', 'ward');
  expect(after.at(-1)).toMatchObject({ action: 'assize.erase', ruling: 'committed' });
  const by = after.at(-1).id as string;
  const { state } = await json(0, 'state', 'ward');
  expect(state.patients.p1).toMatchObject({
    name: { $erased: expect.any(String) },
    notes: [{ $erased: expect.any(String) }],
  });
  expect(state.patients.p2.name).toBe('Maria');
  // Also what it was before has it no more.
  expect((await assize('diff', 'ward@4', 'ward@5')).out).toContain('The states are equal.');
  expect((await assize('diff', 'ward@0', 'ward@5')).out).toContain('$erased');
  for (const id of [log[1].id, refused]) {
    for (const more of [[], ['--blobs']])
      expect((await assize('show', id, ...more)).out).toContain(`was erased by ${by}.`);
  }
  expect((await json(0, 'show', refused, '--blobs')).values).toEqual([
    {
      pointer: '/intent/args',
      hash: expect.any(String),
      bytes: expect.any(Number),
      salted: true,
      erased_by: by,
    },
  ]);
  expect((await assize('verify', 'ward')).out).toMatch(
    /entries +signed +open +erased +head +result\nward +6 +0 +0 +5 /,
  );
});

test('fsck reports bytes that may remain in the file until a writable open', async () => {
  expect((await assize(...erase('ward', '--at', '/patients/p1'))).code).toBe(0);
  expect((await assize('verify', '--database')).code).toBe(0);
  // As a process leaves it that ends before it rewrites the file.
  const db = new DatabaseSync(join(folder, 'clinic.db'));
  db.exec('UPDATE scrub SET erasures = erasures + 1');
  db.close();
  const told =
    /bytes of 1 erasures may still be in the file or its WAL; open the store for writing, with free space/;
  for (const _ of ['it is not done by looking', 'nor by looking again'])
    expect(await assize('verify', '--database')).toMatchObject({
      code: 1,
      out: expect.stringMatching(told),
    });
  expect((await json(1, 'verify', '--database')).faults).toMatchObject([
    { code: 'damaged', detail: expect.stringMatching(told) },
  ]);
  // The chain stays valid, and the help of `verify` points to fsck.
  expect((await assize('verify', 'ward')).code).toBe(0);
  expect((await assize('verify', '--help')).out).toContain(
    'With --database: whether erased bytes remain',
  );
  expect((await assize(...erase('ward', '--at', '/patients/p1'))).err).toMatch(
    /were erased earlier, by [0-9a-f]{64}\./,
  );
  expect((await assize('verify', '--database')).code).toBe(0);
});

test('as JSON it names every value', async () => {
  const said = await json(0, ...erase('ward', '--at', '/patients/p1/name'));
  expect(said).toMatchObject({
    ruling: 'committed',
    trajectory_id: 'ward',
    seq: 5,
    erased: 2,
    entries: 1,
  });
  expect(said.values).toContainEqual({
    hash: expect.any(String),
    seq: 1,
    path: '/patients/p1/name',
  });
});

test('import reports values erased in the export, and erases them on request', async () => {
  const copy = ['--store', 'sqlite:./copy.db'];
  await assize('export', '--out', 'before.jsonl');
  await assize('import', 'before.jsonl', ...copy);
  await assize(...erase('ward', '--at', '/patients/p1/name'));
  await assize('export', '--out', 'after.jsonl');
  const kept = await assize('import', 'after.jsonl', ...copy);
  expect(kept).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^2 values are erased in the export and not in this store/m),
  });
  expect(await json(0, 'import', 'after.jsonl', ...copy)).toMatchObject({
    imported: 0,
    unerased: 2,
    valid: true,
  });
  const show = async () => (await assize('show', 'ward@1', '--blobs', ...copy)).out;
  expect(await show()).toContain('David Miller');
  const erased = await assize('import', 'after.jsonl', '--erase', ...copy);
  expect(erased).toMatchObject({ code: 0, out: expect.not.stringContaining('erased') });
  expect(await show()).not.toContain('David Miller');
  // And erased values do not come back.
  await assize('import', 'before.jsonl', ...copy);
  expect(await show()).not.toContain('David Miller');
});

test('makes a writ for just that', async () => {
  const { entry_id } = await json(
    0,
    ...erase('ward', '--at', '/patients/p1', '--principal', 'operator:ida'),
  );
  await assize('export', '--out', 'e.jsonl');
  const { payload } = await json(0, 'show', entry_id);
  const lines = readFileSync(join(folder, 'e.jsonl'), 'utf8').split('\n');
  const writ = JSON.parse(
    lines.find((line) => line.includes(`"hash":"${payload.writ_id}"`)) as string,
  ).blob;
  expect(writ).toMatchObject({
    issuer: anchor.publicKey,
    subject: 'operator:ida',
    trajectory: 'ward',
    actions: ['assize.erase'],
    scopes: ['erase:/patients/p1'],
    max_depth: 0,
  });
  // The writ begins at the time of the ledger, and ends five minutes after the command.
  const left = Date.parse(writ.expires) - Date.parse(payload.at);
  expect([left > 0, left <= 300_000, writ.not_before <= payload.at]).toEqual([true, true, true]);
});

test('a rejected or frozen erasure is a negative finding', async () => {
  const rejected = await json(1, ...erase('ward', '--at', '/patients/p2'));
  expect(rejected).toMatchObject({ ruling: 'rejected', reason: 'invariant_rejected' });
  const { code, out } = await assize(...erase('ward', '--at', '/patients/p2/name'));
  expect({ code, out }).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^rejected as .*under observation/),
  });
  const frozen = await assize(...erase('frozen', '--at', '/patients/p1'));
  expect(frozen).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^frozen by [0-9a-f]{12}: /),
  });
  expect(await json(1, ...erase('frozen', '--at', '/patients/p1'))).toMatchObject({
    ruling: 'frozen',
  });
  expect((await json(0, 'state', 'ward')).state.patients.p2.name).toBe('Maria');
});

test('without --yes nothing is erased, and the extent is reported', async () => {
  const before = await json(0, 'log', 'ward');
  const refused = await assize(...asked('ward', '--at', '/patients/p1'));
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toMatch(
    /^assize: Nothing is erased: the command would erase 4 values of 2 entries permanently\. /,
  );
  expect(refused.err).toMatch(
    /A law may require that some of these values are kept.* --dry-run .* --yes /,
  );
  const { error } = await json(2, ...asked('ward', '--at', '/patients/p1'));
  expect(error.code).toBe('needs_confirmation');
  expect(await json(0, 'log', 'ward')).toEqual(before);
});

test('--dry-run lists the values, and erases nothing', async () => {
  const before = await json(0, 'log', 'ward');
  const { code, out } = await assize(...erase('ward', '--at', '/patients/p1', '--dry-run'));
  expect(code).toBe(0);
  expect(out).toMatch(
    /^would erase 4 values of 2 entries of ward:\n {2}ward@1: 2 values \(\/patients\/p1\/name\)\n/,
  );
  expect(out).toContain('ward@3: 2 values (/patients/p1/notes/0)');
  expect(out).toContain('A law may require that some of these values are kept');
  const told = await json(0, ...asked('ward', '--at', '/patients/p1', '--dry-run'));
  expect(told).toMatchObject({
    dry_run: true,
    trajectory_id: 'ward',
    erased: 4,
    entries: 2,
    answers: [],
    logged: [],
  });
  expect(told.values.map(({ seq }: { seq: number }) => seq)).toEqual([1, 1, 3, 3]);
  expect(await json(0, 'log', 'ward')).toEqual(before);
  const done = await json(0, ...erase('ward', '--at', '/patients/p1'));
  expect(done.values).toEqual(told.values);
});

const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

test.skipIf(!hasTerminal)('a person on a terminal is asked (by script(1))', async () => {
  const typed = (answer: string): Promise<Ended> => {
    const line = [process.execPath, main, ...asked('ward', '--at', '/patients/p1')]
      .map((arg) => `'${arg}'`)
      .join(' ');
    const env = { ...process.env, ASSIZE_STORE: 'sqlite:./clinic.db', NO_COLOR: '1' };
    const child = spawn('/usr/bin/script', ['-qec', line, '/dev/null'], { cwd: folder, env });
    // Not closed: a closed input answers no.
    child.stdin.write(`${answer}\n`);
    return endOf(child);
  };
  const kept = await typed('n');
  expect(kept.code).toBe(2);
  expect(kept.out).toMatch(/would erase 4 values[\s\S]*Erase these values permanently\? \[y\/N\]/);
  expect(kept.out).toContain('Nothing is erased.');
  expect(await typed('y')).toMatchObject({
    code: 0,
    out: expect.stringContaining('erased 4 values of 2 entries'),
  });
});

test.each<[string, string[], RegExp]>([
  [
    'nothing to erase',
    erase('empty', '--at', '/patients/p1'),
    /no erasable value at \/patients\/p1/,
  ],
  ['nothing named', erase('ward'), /Pass --at, --entry, --facts or --transaction/],
  ['the whole state', erase('ward', '--at', ''), /cannot take the whole state/],
  ['a path that is not a pointer', erase('ward', '--at', 'patients'), /pointer/],
  ['no such entry', erase('ward', '--entry', 'deadbeef'), /no entry deadbeef/],
  ['no such trajectory', erase('nowhere', '--at', '/x'), /no trajectory nowhere/],
  [
    'the key of somebody else',
    erase('ward', '--at', '/x', '--key', 'other.key'),
    /is not an anchor of the store/,
  ],
  [
    'no key',
    erase('ward', '--at', '/x', '--key', 'no.key'),
    /no\.key is not a private key\. Name a file of 64 hex digits/,
  ],
  ['no key file', erase('ward', '--at', '/x', '--key', 'gone.key'), /private key cannot be read/],
  ['no reason', ['erase', 'ward', '--at', '/x', '--key', 'anchor.key'], /--reason/],
  ['an empty reason', erase('ward', '--at', '/x', '--reason', ' '), /`reason` must be text/],
])('%s is misuse', async (_what, args, saying) => {
  const { code, out, err } = await assize(...args);
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(saying) });
});
