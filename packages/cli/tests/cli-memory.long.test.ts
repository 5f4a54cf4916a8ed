/** The facts, from the command line, over the ledger of a ward. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOracle, systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import { endOf, runProcess } from '../../../tests/support/process/command.ts';
import {
  AUTHORITY,
  anchor,
  assizeModule,
  inWardFolder,
  objects,
  read,
  say,
} from './support/process/ward-folder.ts';

const place = inWardFolder();
const { assize, json, file } = place;

test('a branch records a fact, and recall finds it by the name of the branch', async () => {
  await json(0, ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-01'));
  await json(0, 'branch', 'notes', '--note', 'what if', '--id', 'what-if', '--domain', 'ward.ts');
  const told = say('change', 'takes', '--object', 'aspirin', '--from', '2026-03-01');
  await json(0, ...told.with(2, 'what-if'));
  const takes = async (verb: string, ...args: string[]): Promise<string[]> =>
    objects((await json(0, ...read(verb, '--predicate', 'takes', ...args))).facts);
  expect(await takes('recall')).toEqual(['penicillin']);
  expect(await takes('recall', '--trajectory', 'notes')).toEqual(['penicillin']);
  expect(await takes('recall', '--trajectory', 'what-if')).toEqual(['aspirin']);
  expect(await takes('history', '--trajectory', 'what-if')).toEqual(['penicillin', 'aspirin']);
  const before = ['--from-system', '2026-03-01', '--trajectory', 'what-if'];
  expect(
    objects((await json(0, ...read('diff', '--predicate', 'takes', ...before))).added),
  ).toEqual(['aspirin']);
  const explained = await assize(
    ...read('explain', '--predicate', 'takes', '--subject', 'patient 7', '--trajectory', 'what-if'),
  );
  expect(explained).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^[0-9a-f]{12} +what-if +1 /m),
  });
  expect(await assize(...read('recall', '--trajectory', 'nobody'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('nobody'),
  });
  expect((await assize('memory', 'rebuild', '--check')).out).toContain('the store is equal');
});

test('asserts, changes, corrects, retracts; recalls by both times, domain-free', async () => {
  const said = await assize(
    ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-01'),
  );
  expect(said).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^committed as [0-9a-f]{12}, notes seq 1: 1 added, 0 closed\n$/),
  });
  const before = new Date().toISOString();
  const changed = await json(
    0,
    ...say('change', 'takes', '--object', 'amoxicillin', '--from', '2026-04-15'),
  );
  expect(changed).toMatchObject({
    ruling: 'committed',
    trajectory_id: 'notes',
    seq: 2,
    believed: 2,
    closed: 1,
    lost: 1,
  });
  const takes = async (...when: string[]): Promise<string[]> =>
    objects((await json(0, ...read('recall', '--predicate', 'takes', ...when))).facts);
  expect(await takes('--valid', '2026-04-01')).toEqual(['penicillin']);
  expect(await takes('--valid', '2026-04-16')).toEqual(['amoxicillin']);
  expect(await takes('--valid', '2026-04-16', '--system', before)).toEqual(['penicillin']);
  expect(await takes('--valid', 'any')).toEqual(['penicillin', 'amoxicillin']);
  expect(await takes('--relation', 'during,starts', '--of', '2026-03-01/2026-05-01')).toEqual([
    'penicillin',
  ]);
  expect(await takes('--relation', 'finishes', '--of', 'open/open')).toEqual(['amoxicillin']);

  const table = await assize(...read('recall', '--valid', '2026-04-01'));
  expect(table.out).toMatch(
    /^fact +subject +predicate +object +confidence +valid +recorded\n[0-9a-f]{12} +patient 7 +takes +penicillin +1 +2026-03-01 to 2026-04-15 +\d{4}-\S+ to open\n$/,
  );
  const march = ['--from', '2026-03-01', '--to', '2026-04-01'];
  await json(
    0,
    ...say('correct', 'takes', '--object', 'ibuprofen', '--was', 'penicillin', ...march),
  );
  await json(0, ...say('retract', 'takes', '--from', '2026-03-10', '--to', '2026-03-20'));
  expect(await takes('--valid', '2026-03-05')).toEqual(['ibuprofen']);
  expect(await takes('--valid', '2026-03-15')).toEqual([]);
  const versions = await json(0, ...read('history', '--subject', 'patient 7'));
  expect(versions.facts.length).toBeGreaterThan(4);
  expect((await json(0, ...read('history', '--limit', '2'))).is_truncated).toBe(true);
  expect((await assize(...read('history', '--limit', '2'))).out).toContain('More facts match');

  const now = ['--from-valid', '2026-04-16', '--to-valid', '2026-04-16'];
  const diff = await json(0, ...read('diff', '--from-system', before, ...now));
  expect([objects(diff.removed), objects(diff.added), diff.revised]).toEqual([
    ['penicillin'],
    ['amoxicillin'],
    [],
  ]);
  const marked = (await assize(...read('diff', '--from-system', before, ...now))).out;
  expect(marked).toMatch(/^- +.*penicillin.*\n\+ +.*amoxicillin/m);
  expect(
    (await assize(...read('diff', '--from-valid', '2026-03-15', '--to-valid', '2026-03-16'))).out,
  ).toBe('The facts are the same at both points.\n');
  expect(await json(0, 'memory', 'spaces')).toEqual({ spaces: ['ward-3'] });
  expect((await assize('memory', 'spaces')).out).toBe('ward-3\n');
  expect((await assize('memory', 'recall', '--space', 'other')).out).toBe(
    'No facts found. The store has no facts in "other". Spaces with facts: ward-3.\n',
  );
  const nearby = await json(
    0,
    ...read('recall', '--valid', 'any', '--text', 'penicillin', '--nearby'),
  );
  expect(nearby.observation.value.query).toMatchObject({
    nearby: { neighbours: 0.35, session: 0.5 },
  });
  expect(await assize(...read('recall', '--nearby'))).toMatchObject({
    code: 2,
    err: expect.stringMatching(/needs --text\. Pass --text\.$/m),
  });
});

test('a minimal writ is made, or the given one is used; other use is refused', async () => {
  const { entry_id } = await json(
    0,
    ...say('assert', 'allergy', '--object', 'nuts', '--principal', 'ida'),
  );
  const { payload } = await json(0, 'show', entry_id);
  await assize('export', '--out', 'e.jsonl');
  const lines = readFileSync(join(place.folder, 'e.jsonl'), 'utf8').split('\n');
  // Nothing that is never erased names a patient.
  expect(
    lines.filter((line) => line.includes('patient 7')).every((line) => line.includes('"salt"')),
  ).toBe(true);
  const writ = JSON.parse(
    lines.find((line) => line.includes(`"hash":"${payload.writ_id}"`)) as string,
  ).blob;
  expect(writ).toMatchObject({
    subject: 'ida',
    trajectory: 'notes',
    actions: ['assize.believe'],
    scopes: ['memory:ward-3:*:allergy'],
    max_depth: 0,
  });
  // The writ begins at the time of the ledger, and ends five minutes after the command.
  const left = Date.parse(writ.expires) - Date.parse(payload.at);
  expect([left > 0, left <= 300_000, writ.not_before <= payload.at]).toEqual([true, true, true]);

  const terms = [
    '--subject',
    'agent:scribe',
    '--action',
    'assize.believe',
    '--scope',
    'memory:ward-3:**',
  ];
  await assize(
    'writ',
    'issue',
    ...terms,
    '--expires',
    '2100-01-01T00:00:00Z',
    '--key',
    'anchor.key',
    '--out',
    'w.json',
  );
  const under = (space: string): string[] => [
    ...[
      'memory',
      'assert',
      'notes',
      '--space',
      space,
      '--subject',
      'x',
      '--predicate',
      'allergy',
      '--object',
      'y',
    ],
    ...['--domain', 'ward.ts', '--writ', 'w.json'],
  ];
  expect(await json(0, ...under('ward-3'))).toMatchObject({ ruling: 'committed' });
  expect(await json(1, ...under('ward-4'))).toMatchObject({
    ruling: 'rejected',
    reason: 'invalid_authority',
  });
  expect((await assize(...under('ward-4'))).out).toMatch(
    /^rejected as [0-9a-f]{12}, notes seq 4: .*\(invalid_authority\)\n$/,
  );
});

test('a loser is shown, explained by entries; control characters are visible', async () => {
  const weight = (object: string, confidence: string) =>
    json(
      0,
      ...say(
        'assert',
        'weight',
        '--object',
        object,
        '--confidence',
        confidence,
        '--from',
        '2026-03-01',
      ),
    );
  await weight('97 kg\u001b[2K\u202e', '0.3');
  const { lost } = await weight('79 kg', '0.9');
  expect(lost).toBe(1);
  const audit = await assize(...read('recall', '--kind', 'audit'));
  expect(audit.out).toContain('97 kg\\u001b[2K\\u202e lost to 79 kg');
  const told = await assize(...read('explain', '--predicate', 'weight'));
  expect(told.out).toMatch(/^patient 7 weight 79 kg, valid 2026-03-01 to open\n/);
  expect(told.out).toMatch(/^won +79 kg +0\.9 +[0-9a-f]{12}$/m);
  expect(told.out).toMatch(/^lost +97 kg\\u001b\[2K\\u202e +0\.3 +[0-9a-f]{12}$/m);
  expect(told.out).toMatch(/^[0-9a-f]{12} +notes +2 +\S+Z +assize\.believe$/m);
  const explained = await json(0, ...read('explain', '--predicate', 'weight'));
  expect(explained).toMatchObject({
    fact: { object: '79 kg' },
    versions: [{ object: '79 kg' }],
    contradictions: [{ witness: { strategy: 'evi' } }],
    entries: [{ trajectory_id: 'notes', seq: 2, action: 'assize.believe' }],
  });
  await json(0, ...say('assert', 'allergy', '--object', 'nuts'));
  const several = await assize(...read('explain'));
  expect(several).toMatchObject({
    code: 2,
    err: expect.stringMatching(/2 facts match \(.*\)\. Pass --fact/),
  });
  const byId = await json(0, ...read('explain', '--fact', explained.fact.fact_id.slice(0, 8)));
  expect(byId.fact).toEqual(explained.fact);
});

test('a fact that only lost, and a leftover, are explained by their shown ids', async () => {
  const said = (object: string, confidence: string, from: string, to: string): string[] =>
    say(
      'assert',
      'weight',
      ...['--object', object, '--confidence', confidence, '--from', from, '--to', to],
    );
  await json(0, ...said('79 kg', '0.5', '2026-03-01', 'open'));
  await json(0, ...said('97 kg', '0.1', '2026-03-05', '2026-03-08'));
  await json(0, ...said('80 kg', '0.9', '2026-03-10', '2026-03-12'));
  const { out } = await assize(...read('recall', '--valid', 'any', '--kind', 'all'));
  const shown = (row: RegExp): string =>
    out
      .split('\n')
      .find((each) => row.test(each))!
      .split(' ')[0]!;
  const ids = [shown(/97 kg lost to 79 kg/), shown(/79 kg .* 2026-03-12 to open/)];
  expect(ids.map((id) => id.split('::').length)).toEqual([4, 3]);
  const told = await Promise.all(
    ids.map((id) => assize(...read('explain', '--fact', id, '--valid', 'any'))),
  );
  expect(told.map(({ code, out }) => [code, out.split('\n')[0]])).toEqual([
    [0, 'patient 7 weight 97 kg lost to 79 kg, valid 2026-03-05 to 2026-03-08'],
    [0, 'patient 7 weight 79 kg, valid 2026-03-12 to open'],
  ]);
  expect(told[0]!.out).toMatch(/^lost +97 kg +0\.1 /m);
});

test('the same from the same source is said once', async () => {
  const heard = say('assert', 'allergy', '--object', 'nuts', '--source', 'letter 12');
  await json(0, ...heard);
  expect((await assize(...heard)).out).toMatch(/: no change\n$/);
});

test('a pending contradiction is shown with its candidates, and answered', async () => {
  await json(0, ...say('assert', 'diagnosis', '--object', 'flu', '--from', '2026-03-01'));
  const waits = await assize(
    ...say('assert', 'diagnosis', '--object', 'pneumonia', '--from', '2026-03-02'),
  );
  expect(waits).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^pending for doctor as .*; assize pending shows it\n$/),
  });
  const { pending } = await json(0, 'pending');
  const [{ id, questions }] = pending;
  const [{ request, members }] = questions;
  expect(questions).toMatchObject([
    { space: 'ward-3', subject: 'patient 7', predicate: 'diagnosis' },
  ]);
  const text = (await assize('pending')).out;
  expect(text).toMatch(
    new RegExp(
      `^contradiction patient 7 diagnosis, in ward-3, request ${request.slice(0, 12)}$`,
      'm',
    ),
  );
  for (const [i, { object, claim }] of members.entries())
    expect(text).toMatch(
      new RegExp(`^${i + 1} +${object} +1 +2026-03-0[12] to open +${claim.slice(0, 12)}$`, 'm'),
    );
  expect(text).toContain(`assize approve ${id.slice(0, 12)} --as PRINCIPAL --answer N`);

  const n = members.findIndex(({ object }: { object: string }) => object === 'pneumonia') + 1;
  const claim = members[n - 1].claim as string;
  const approve = (...answers: string[]): string[] => [
    ...['approve', id, '--as', 'dr.grey', '--domain', 'ward.ts'],
    ...answers.flatMap((answer) => ['--answer', answer]),
  ];
  const zeros = '0'.repeat(64);
  const wrong: [string[], RegExp][] = [
    [[], /pass --answer N, with the number of a claim in assize pending/],
    [['3'], /no candidate 3\. Pass a number from 1 to 2/],
    [['0'], /no candidate 0/],
    [['x'], /no candidate with the claim x/],
    [['1=2=3'], /is not an answer\. Write N, REQUEST=N/],
    [['deadbeef=1'], /no question deadbeef/],
    [[`${request.slice(0, 8)}=${zeros.slice(0, 8)}`], /no candidate with the claim 00000000/],
    [[`${request}=${zeros}`], /member/],
    [[`${zeros}=${claim}`, `${n}`], /is out of date, because the facts have changed/],
  ];
  for (const [answers, saying] of wrong) {
    const { code, out, err } = await assize(...approve(...answers));
    expect({ code, out, err }, answers.join()).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(saying),
    });
  }
  const codes = await Promise.all(
    [[`${zeros}=${claim}`, `${n}`], [`${request}=${zeros}`]].map(
      async (each) => (await json(2, ...approve(...each))).error.code,
    ),
  );
  expect(codes).toEqual(['stale_answer', 'bad_argument']);
  expect(objects((await json(0, ...read('recall'))).facts)).toEqual(['flu']);
  expect(await json(0, ...approve(`${request.slice(0, 8)}=${claim.slice(0, 8)}`))).toMatchObject({
    ruling: 'committed',
  });
  expect(objects((await json(0, ...read('recall'))).facts)).toEqual(['pneumonia']);

  await json(1, ...say('assert', 'diagnosis', '--object', 'cold', '--from', '2026-03-02'));
  const [again] = (await json(0, 'pending')).pending;
  const other =
    again.questions[0].members.findIndex(({ object }: { object: string }) => object === 'cold') + 1;
  const done = await assize(
    'approve',
    again.id,
    '--as',
    'dr.grey',
    '--domain',
    'ward.ts',
    '--answer',
    `${other}`,
  );
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(objects((await json(0, ...read('recall'))).facts)).toEqual(['cold']);

  // The output names the decider and the entry.
  const { contradictions, entries } = await json(0, ...read('explain', '--predicate', 'diagnosis'));
  const decided = contradictions.map((each: any) => each.decided);
  const entry_id = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(decided).toEqual(decided.map(() => ({ entry_id, principal: 'dr.grey', as: 'doctor' })));
  expect(decided.length).toBeGreaterThan(0);
  expect(entries.map(({ id }: { id: string }) => id)).toContain(decided[0].entry_id);
  expect((await assize(...read('explain', '--predicate', 'diagnosis'))).out).toMatch(
    new RegExp(
      `, settled by await, decided by dr\\.grey, doctor, in ${decided[0].entry_id.slice(0, 12)}$`,
      'm',
    ),
  );
});

/** Submits what expires immediately, as a runtime with that setting does. */
const EXPIRING = `
import { Assize, issueWrit, openStore } from '${assizeModule}';
import { ward } from './ward.ts';
const [issuer, privateKey] = process.argv.slice(2);
const store = await openStore('sqlite:./ward.db');
const times = { not_before: '2000-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' };
const what = { actions: ['assize.believe'], scopes: ['memory:ward-3:**'], max_depth: 1, nonce: '1' };
const writ = issueWrit({ issuer, subject: 'agent:scribe', ...what, ...times }, privateKey);
const assize = new Assize({ store, domains: [ward], anchors: [issuer], approvals: { timeoutMs: 1 } });
const memory = (await assize.open('notes', ward)).memory({ space: 'ward-3', writ });
const said = { subject: 'patient 7', predicate: 'diagnosis', valid: { from: '2026-03-01T00:00:00.000000Z' } };
await memory.assert({ ...said, object: 'flu' });
console.log((await memory.assert({ ...said, object: 'cold' })).pending);
await store.close();
`;

test('pending offers no answer to a claim of a withdrawn source', async () => {
  await json(0, ...say('assert', 'diagnosis', '--object', 'flu', '--source', 'letter 1'));
  await json(1, ...say('assert', 'diagnosis', '--object', 'measles', '--source', 'letter 2'));
  const [{ id, ...before }] = (await json(0, 'pending')).pending;
  expect(before).not.toHaveProperty('withdrawn_source');
  const withdraw = [
    'memory',
    'withdraw',
    'notes',
    '--space',
    'ward-3',
    '--source',
    'letter 2',
    ...AUTHORITY,
  ];
  expect(await assize(...withdraw)).toMatchObject({ code: 0 });
  const { out } = await assize('pending');
  expect(out).toContain('can only be rejected: its source "letter 2" was withdrawn\n');
  expect(out).toContain(`assize reject ${id.slice(0, 12)} --as PRINCIPAL --reason TEXT\n`);
  expect(out).not.toContain('--answer');
  expect((await json(0, 'pending')).pending).toMatchObject([{ id, withdrawn_source: 'letter 2' }]);
});

test('an answer after a decision or expiry is refused by name, nothing written', async () => {
  const entries = async (): Promise<number> => (await json(0, 'log', 'notes')).entries;
  const isLate = async (id: string): Promise<void> => {
    const before = await entries();
    const answer = ['approve', id, '--as', 'dr.grey', '--domain', 'ward.ts', '--answer'];
    // Any answer is refused: no choice is left.
    for (const which of ['1', '2', '3', `${'0'.repeat(64)}=1`, 'deadbeef=1']) {
      const { error } = await json(2, ...answer, which);
      expect([which, error.code]).toEqual([which, 'wrong_state']);
      expect(error.message).toMatch(/so the answer has no effect\. Assert the fact again/);
    }
    const elsewhere = await runProcess(place.folder, 'sqlite:./ward.db', ...answer, '1', '--json');
    expect(JSON.parse(elsewhere.out)).toMatchObject({
      error: { code: 'wrong_state', message: expect.stringContaining('Assert the fact again') },
    });
    expect((await json(2, ...answer.slice(0, -1))).error.code).toBe('not_pending');
    expect(await entries()).toBe(before);
  };
  await json(0, ...say('assert', 'diagnosis', '--object', 'flu', '--from', '2026-03-01'));
  await json(1, ...say('assert', 'diagnosis', '--object', 'pneumonia', '--from', '2026-03-02'));
  const [{ id }] = (await json(0, 'pending')).pending;
  await json(0, 'approve', id, '--as', 'dr.grey', '--domain', 'ward.ts', '--answer', '1');
  await isLate(id);
  await json(0, ...say('retract', 'diagnosis', '--from', '2026-03-01', '--to', 'open'));

  file('expiring.ts', EXPIRING);
  const child = spawn(process.execPath, ['expiring.ts', anchor.publicKey, anchor.privateKey], {
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { code, out } = await endOf(child);
  expect(code).toBe(0);
  const expiring = out.trim();
  // The expiry is recorded once, by the first caller.
  const first = await json(
    1,
    'approve',
    expiring,
    '--as',
    'dr.grey',
    '--domain',
    'ward.ts',
    '--answer',
    '1',
  );
  expect(first).toMatchObject({ ruling: 'rejected', reason: 'expired' });
  await isLate(expiring);
}, 60_000);

test('facts changed by a damaged entry are named as not compared', async () => {
  await json(0, ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-01'));
  await json(0, ...say('assert', 'weight', '--object', '80', '--from', '2026-03-01'));
  expect(await json(0, 'verify', '--database')).not.toHaveProperty('notCompared');
  const db = openUnguarded(join(place.folder, 'ward.db'));
  db.exec(`UPDATE entry SET payload = payload || ' '
    WHERE position = (SELECT max(position) FROM entry WHERE payload LIKE '%"beliefs":[{%')`);
  db.close();
  expect(await assize('verify', '--database')).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /not compared: the facts of 1 partition, .*\n {2}ward-3, patient 7, weight: version 1, read to 0\n/,
    ),
  });
  expect(await json(1, 'verify', '--database')).toMatchObject({
    valid: false,
    faults: [],
    notCompared: {
      partitions: 1,
      examples: [{ subject: 'patient 7', predicate: 'weight', version: 1, readTo: 0 }],
    },
  });
});

test('facts are rebuilt and compared; export copies them; fsck finds changes', async () => {
  await json(0, ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-01'));
  await json(0, ...say('change', 'takes', '--object', 'amoxicillin', '--from', '2026-04-15'));
  expect(await json(0, 'memory', 'rebuild', '--check')).toMatchObject({
    valid: true,
    facts: 4,
    partitions: 1,
  });
  const db = openUnguarded(join(place.folder, 'ward.db'));
  db.exec("UPDATE fact SET object = 'poison\u001b' WHERE object = 'amoxicillin'");
  db.close();
  const differs = await assize('memory', 'rebuild', '--check');
  expect(differs).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^other +[0-9a-f]{12} .*ward-3 +patient 7 +takes\n.*differs in 1\.\n$/m,
    ),
  });
  expect(await json(1, 'memory', 'rebuild', '--check')).toMatchObject({
    valid: false,
    differences: [{ kind: 'other', subject: 'patient 7' }],
  });
  expect((await assize('verify', '--database')).out).toMatch(
    /the fact tables differ from the entries in 1 places.*\(facts_differ\)/,
  );
  expect((await assize('memory', 'rebuild')).out).toBe('rebuilt 4 fact versions from 2 changes\n');
  expect((await assize('memory', 'rebuild', '--check')).code).toBe(0);
  expect((await assize('verify', '--database')).code).toBe(0);

  await assize('export', '--out', 'e.jsonl');
  const copy = ['--store', 'sqlite:./copy.db'];
  const imported = await assize('import', 'e.jsonl', ...copy);
  expect(imported).toMatchObject({
    code: 0,
    out: expect.stringContaining('Rebuilt 4 fact versions from 2 changes'),
  });
  const here = await json(0, ...read('history', '--kind', 'all'));
  expect((await json(0, ...read('history', '--kind', 'all'), ...copy)).facts).toEqual(here.facts);
  // Again it has nothing to do; where it was cut off, it has.
  expect(await json(0, 'import', 'e.jsonl', ...copy)).toMatchObject({ imported: 0, beliefs: 2 });
  expect((await assize('import', 'e.jsonl', ...copy)).out).not.toContain('facts');
  const cut = openUnguarded(join(place.folder, 'copy.db'));
  cut.exec('UPDATE fact_rebuild SET whole = 0');
  cut.close();
  expect((await assize(...read('recall'), ...copy)).err).toContain('assize memory rebuild');
  expect(await assize('memory', 'rebuild', '--check', ...copy)).toMatchObject({ code: 1, err: '' });
  expect((await assize('verify', '--database', ...copy)).code).toBe(1);
  expect(await json(0, 'import', 'e.jsonl', ...copy)).toMatchObject({
    imported: 0,
    rebuilt: { changes: 2, facts: 4 },
  });
  expect((await json(0, ...read('recall'), ...copy)).facts).toHaveLength(1);
});

test('a vote is shown with the attempts that became none', async () => {
  const store = await openStore(`sqlite:${join(place.folder, 'ward.db')}`);
  const votes = ['nobody\u001b', 'urgent'];
  const judge = {
    oracle: createOracle({ store, clock: systemClock, mode: 'record' }),
    choose: ({ members }: { members: readonly { object: string; claim: string }[] }) => {
      const vote = votes.shift()!;
      return members.find(({ object }) => object === vote)?.claim ?? vote;
    },
  };
  const trajectory = await runtimeOver(store, [clinic], { memory: { judge } }).create(clinic, {
    trajectoryId: 'triage',
    writs: [writFor('nurse')],
  });
  const memory = trajectory.memory({ space: 'ward', writ: writFor('nurse') });
  const said = {
    subject: 'p7',
    predicate: 'triage',
    valid: { from: '2026-03-01T00:00:00.000000Z' },
    source: 'letter',
  };
  await memory.assert({ ...said, object: 'urgent' });
  await expect(memory.assert({ ...said, object: 'can wait' })).rejects.toMatchObject({
    reason: 'unknown_member',
  });
  await memory.assert({ ...said, object: 'can wait' });
  await store.close();
  const told = (await assize('memory', 'explain', '--space', 'ward', '--predicate', 'triage')).out;
  const key = /^judge vote: assize show ([0-9a-f]{64})$/m.exec(told)![1]!;
  expect(await json(0, 'show', key)).toMatchObject({
    key,
    answer: expect.stringMatching(/^[0-9a-f]{64}$/),
    attempts: [{ outcome: 'refused', length: 14, error: { code: 'unknown_member' } }],
  });
  expect((await assize('show', key)).out).toMatch(
    /^answered \S+Z: "[0-9a-f]{64}"\nat +attempt +detail\n\S+Z +refused +14 characters: unknown_member: a message of \d+ characters$/m,
  );
  expect((await assize('show', 'a'.repeat(64))).err).toMatch(/no entry a{64}/);
  expect((await assize('show', 'b')).err).toMatch(/8 to 64 hex digits/);
});

test('the dependents of an entry are a tree', async () => {
  const first = await json(
    0,
    ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-01'),
  );
  expect((await assize('blast', 'dependents', first.entry_id.slice(0, 8))).out).toMatch(
    /^[0-9a-f]{12} notes seq 1\n {2}no dependent entries\n$/,
  );
  const second = await json(
    0,
    ...say('assert', 'takes', '--object', 'penicillin', '--from', '2026-03-02'),
  );
  const { dependents: derived } = await json(0, 'blast', 'dependents', first.entry_id);
  expect(derived).toMatchObject([
    { trajectory_id: 'notes', id: second.entry_id, how: ['belief'], from: [first.entry_id] },
  ]);
  const { out } = await assize('blast', 'dependents', first.entry_id);
  expect(out).toMatch(
    /^[0-9a-f]{12} notes seq 1\n {2}[0-9a-f]{12} notes seq 2 assize\.believe \S+Z belief\n$/,
  );
});
