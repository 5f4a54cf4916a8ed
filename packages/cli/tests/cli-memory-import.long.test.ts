/** `assize memory import`: many lines together. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { exportLines, importLines, splitLines } from '@assize/audit/internal/export';
import { findRootKey } from 'assize/internal/config';
import { integrateLog } from 'assize/internal/ledger';
import { openStore, sealKeys } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import { runProcess } from '../../../tests/support/process/command.ts';
import { AUTHORITY, inWardFolder, read } from './support/process/ward-folder.ts';

const here = inWardFolder();
const { assize, json, file } = here;

test('imports batches once, and names the first wrong line, batch unwritten', async () => {
  const line = (n: number, more: object = {}) => ({
    subject: `patient ${n}`,
    predicate: 'takes',
    object: 'aspirin',
    from: '2026-03-01',
    ...more,
  });
  const good = file(
    'good.jsonl',
    ...Array.from({ length: 450 }, (_, n) => line(n)),
    line(500, { source: 'a' }),
    line(500, { source: 'a' }),
  );
  const load = (name: string, ...more: string[]): string[] => [
    'memory',
    'import',
    name,
    'notes',
    '--space',
    'ward-3',
    ...AUTHORITY,
    ...more,
  ];
  const text = await assize(...load(good));
  expect(text).toMatchObject({
    code: 0,
    out: '452 lines of 452 committed in 3 commits, 451 facts added\n',
  });
  const rows = async (): Promise<number> =>
    (await json(0, ...read('history', '--limit', '10000'))).facts.length;
  const before = await rows();
  expect(await json(0, ...load(good))).toMatchObject({ committed: 452, believed: 0 });
  expect(await rows()).toBe(before);

  const bad = file('bad.jsonl', ...Array.from({ length: 5 }, (_, n) => line(1_000 + n)), {
    ...line(1),
    predicate: 'none',
  });
  const refused = await assize(...load(bad, '--batch', '4'));
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(/line 6.*no predicate "none".*Lines 1 to 4 were proposed/),
  });
  const subjects = (await json(0, ...read('recall', '--limit', '10000'))).facts.map(
    ({ subject }: { subject: string }) => subject,
  );
  expect(subjects.filter((subject: string) => /patient 1\d\d\d/.test(subject))).toHaveLength(4);

  // Of contradictory lines in one batch, one becomes a fact. The output reports the lost lines.
  const both = file('both.jsonl', line(3_000, { object: 'one' }), line(3_000, { object: 'other' }));
  expect((await assize(...load(both))).out).toMatch(
    /^2 lines of 2 committed in 1 commit, \d facts? added, 1 lost\n$/,
  );

  const mixed = file(
    'mixed.jsonl',
    line(1, { predicate: 'diagnosis', object: 'flu' }),
    line(1, { predicate: 'diagnosis', object: 'cold' }),
    line(2_000),
  );
  expect(await json(1, ...load(mixed, '--batch', '1'))).toMatchObject({
    lines: 3,
    committed: 2,
    pending: 1,
    rejected: 0,
    refused: [{ lines: { from: 2, to: 2 }, ruling: 'escalated', reason: 'contradiction' }],
  });
  const again = await assize(
    ...load(file('again.jsonl', line(1, { predicate: 'diagnosis', object: 'measles' }))),
  );
  expect(again).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^line 1 pending for doctor as .*\n0 lines of 1 committed .* 1 pending, 0 not committed\n$/s,
    ),
  });
});

test('a repeated import resubmits lines only after a decision, in any batches', async () => {
  const line = (subject: string, object: string) => ({
    subject,
    predicate: 'diagnosis',
    object,
    from: '2026-03-01',
  });
  const load = (name: string, ...more: string[]): string[] => [
    ...['memory', 'import', name, 'notes', '--space', 'ward-3', ...AUTHORITY],
    ...more,
  ];
  await json(0, ...load(file('first.jsonl', line('patient 1', 'flu'), line('patient 2', 'flu'))));
  const second = file(
    'second.jsonl',
    line('patient 1', 'cold'),
    line('patient 2', 'cold'),
    line('patient 3', 'cold'),
  );
  const put = await json(1, ...load(second));
  expect(put.refused).toMatchObject([{ lines: { from: 1, to: 3 }, ruling: 'escalated' }]);
  const waits = put.refused[0].entry_id as string;
  for (const batch of ['200', '1', '2']) {
    const again = await json(1, ...load(second, '--batch', batch));
    expect(again).toMatchObject({ committed: 0, commits: 0, believed: 0, pending: 3 });
    expect(new Set(again.refused.map(({ entry_id }: { entry_id: string }) => entry_id))).toEqual(
      new Set([waits]),
    );
    expect(
      again.refused.every(({ was_pending: was }: { was_pending?: boolean }) => was === true),
    ).toBe(true);
  }
  expect((await json(0, 'pending')).pending).toHaveLength(1);
  const more = file(
    'more.jsonl',
    readFileSync(join(here.folder, second), 'utf8').trimEnd(),
    line('patient 4', 'cold'),
  );
  // Another file, another source: it is said again.
  expect((await json(1, ...load(more))).refused).toMatchObject([{ ruling: 'escalated' }]);
  const told = await assize(...load(second));
  expect(told.out).toMatch(
    /^lines 1 to 3 still pending for doctor as .*\n0 lines of 3 committed .* 3 pending, 0 not committed\n$/s,
  );
  await assize('reject', waits, '--as', 'dr.grey', '--reason', 'ask again', '--domain', 'ward.ts');
  const anew = await json(1, ...load(second));
  expect(anew.refused).toMatchObject([{ lines: { from: 1, to: 3 }, ruling: 'escalated' }]);
  expect(anew.refused[0]).not.toMatchObject({ was_pending: true });
  expect(anew.refused[0].entry_id).not.toBe(waits);
});

test('an ended line is skipped if it was committed, else refused by its number', async () => {
  const weight = (object: string) => ({
    subject: 'patient 1',
    predicate: 'weight',
    object,
    source: 'chart',
  });
  const store = await openStore(`sqlite:${join(here.folder, 'ward.db')}`);
  const memory = (
    await runtimeOver(store, [clinic]).create(clinic, { trajectoryId: 'chart' })
  ).memory({
    space: 'ward-3',
    writ: writFor('nurse'),
  });
  // Asserted before that time on the test clock. The second statement asserts the same as the
  // first, and has no row.
  const to = '2026-04-01T00:00:00.000000Z';
  for (const source of ['chart', 'letter'])
    expect(await memory.assert({ ...weight('80'), source, valid: { to } })).toMatchObject({
      ruling: 'committed',
    });
  await store.close();
  const ended = [
    { ...weight('80'), to },
    { ...weight('80'), source: 'letter', to },
  ];
  const load = (name: string, ...more: string[]): string[] => [
    ...['memory', 'import', name, 'notes', '--space', 'ward-3', ...AUTHORITY],
    ...more,
  ];
  const still = { subject: 'patient 2', predicate: 'weight', object: '70' };
  const name = file('ended.jsonl', ...ended, still);
  expect(await json(0, ...load(name))).toMatchObject({ committed: 3, commits: 1, believed: 1 });
  expect(await json(0, ...load(name))).toMatchObject({ committed: 3, believed: 0 });
  const never = file('never.jsonl', ...ended, still, { ...weight('81'), to });
  expect(await assize(...load(never))).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /never\.jsonl, line 4: the period ends in the past .*Nothing was written\./,
    ),
  });
  expect(await assize(...load(never, '--batch', '3'))).toMatchObject({
    code: 2,
    err: expect.stringMatching(/line 4: the period ends in the past .*Lines 1 to 3 were proposed/),
  });
});

test('a line may say that something was always so, or has no end', async () => {
  const always = { subject: 'p', predicate: 'diagnosis', object: 'flu', from: 'open', to: 'open' };
  await json(
    0,
    'memory',
    'import',
    file('always.jsonl', always),
    'notes',
    '--space',
    'ward-3',
    ...AUTHORITY,
  );
  const { facts } = await json(0, 'memory', 'recall', '--space', 'ward-3', '--valid', '0001-01-01');
  expect(facts.map(({ object }: { object: string }) => object)).toEqual(['flu']);
});

test('a batch too large for an entry is halved until it fits, also on repeats', async () => {
  const day = (n: number): string => new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10);
  const lines = Array.from({ length: 80 }, (_, n) => ({
    ...{ subject: 'patient 1', predicate: 'takes', object: `drug ${n}` },
    ...{ from: day(n), to: day(n + 80) },
  }));
  const load = [
    'memory',
    'import',
    file('staggered.jsonl', ...lines),
    'notes',
    '--space',
    'ward-3',
    ...AUTHORITY,
  ];
  expect(await json(0, ...load)).toMatchObject({ committed: 80, commits: 4, refused: [] });
  expect(await json(0, ...load)).toMatchObject({ committed: 80, believed: 0, refused: [] });
});

test('so is one that is too long for a proposal', async () => {
  const lines = Array.from({ length: 150 }, (_, n) => ({
    ...{ subject: `letter ${n}`, predicate: 'allergy', from: '2026-03-01' },
    object: `${n} `.padEnd(16_384, 'x'),
  }));
  const load = [
    'memory',
    'import',
    file('long.jsonl', ...lines),
    'notes',
    '--space',
    'ward-3',
    ...AUTHORITY,
  ];
  expect(await json(0, ...load)).toMatchObject({
    committed: 150,
    commits: 4,
    believed: 150,
    refused: [],
  });
  expect(await json(0, ...load)).toMatchObject({ committed: 150, believed: 0, refused: [] });
});

test('two concurrent imports of a file submit each line once, and both name it', async () => {
  const line = (subject: string, object: string) => ({
    subject,
    predicate: 'diagnosis',
    object,
    from: '2026-03-01',
  });
  const load = (name: string): string[] => [
    'memory',
    'import',
    name,
    'notes',
    '--space',
    'ward-3',
    ...AUTHORITY,
  ];
  // The import is long enough that both work on it at the same time.
  const subjects = Array.from({ length: 25 }, (_, n) => `patient ${n}`);
  await json(0, ...load(file('first.jsonl', ...subjects.map((subject) => line(subject, 'flu')))));
  const second = file('second.jsonl', ...subjects.map((subject) => line(subject, 'cold')));
  const again = [...load(second), '--batch', '1', '--json'];
  const both = await Promise.all(
    [1, 2].map(() => runProcess(here.folder, 'sqlite:./ward.db', ...again)),
  );
  const [ids, others] = both.map(({ out }) =>
    JSON.parse(out).refused.map((each: { entry_id: string }) => each.entry_id),
  );
  expect(ids).toHaveLength(subjects.length);
  expect(others).toEqual(ids);
  expect((await json(0, 'pending')).pending).toHaveLength(subjects.length);
});

test('a partial import reports its count, and recall refuses incomplete facts', async () => {
  const store = await openStore('memory:');
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId: 'of',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'away', writ });
  for (let n = 0; n < 510; n++)
    await memory.assert({ subject: `p${n}`, predicate: 'drug', object: 'x' });
  await integrateLog(store);
  let lines = '';
  for await (const line of exportLines(store)) lines += line;
  await store.close();
  writeFileSync(join(here.folder, 'whole.jsonl'), lines);
  writeFileSync(
    join(here.folder, 'part.jsonl'),
    lines.slice(0, lines.lastIndexOf('\n', lines.length - 2) + 1),
  );
  const away = ['--store', 'sqlite:./away.db'];
  const partial = await assize('import', 'part.jsonl', '--keep-invalid', ...away);
  expect(partial.code).toBe(2);
  expect(partial.err).toMatch(/its end is missing\./);
  expect(partial.err).toMatch(/The import wrote 500 entries before that line/);
  const recall = ['memory', 'recall', '--space', 'away', '--subject', 'p5', ...away];
  expect(await assize(...recall)).toMatchObject({
    code: 2,
    err: expect.stringContaining('assize memory rebuild'),
  });
  expect(await assize('import', 'whole.jsonl', ...away)).toMatchObject({ code: 0, err: '' });
  expect(await assize(...recall)).toMatchObject({ code: 0, out: expect.stringContaining('p5') });
});

async function exported(
  trajectoryId: string,
  facts: number,
  space = trajectoryId,
): Promise<string> {
  const store = await openStore('memory:');
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId,
    writs: [writ],
  });
  const memory = trajectory.memory({ space, writ });
  for (let n = 0; n < facts; n++)
    await memory.assert({ subject: `p${n}`, predicate: 'drug', object: 'x' });
  await integrateLog(store);
  let lines = '';
  for await (const line of exportLines(store)) lines += line;
  await store.close();
  return lines;
}

/** A store that a command created has a root key in a file beside it. */
const openWithRootKey = (url: string) => openStore(url, sealKeys(findRootKey(url, {})));

test('a partial import into a store with facts reports that it built no facts', async () => {
  const lines = await exported('many', 510);
  writeFileSync(join(here.folder, 'few.jsonl'), await exported('few', 1));
  writeFileSync(
    join(here.folder, 'part.jsonl'),
    lines.slice(0, lines.lastIndexOf('\n', lines.length - 2) + 1),
  );
  const store = ['--store', 'sqlite:./believing.db'];
  const first = await assize('import', 'few.jsonl', ...store);
  expect(first).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^assize: Created the root key [^\n]*\n$/),
  });
  const { code, err } = await assize('import', 'part.jsonl', '--keep-invalid', ...store);
  expect(code).toBe(2);
  expect(err).toMatch(
    /^assize: The facts of the store are incomplete, because the import did not finish\. /m,
  );
  expect(err).toMatch(/The import wrote 500 entries before that line/);
  expect(err).toMatch(/its end is missing\./);
  const recall = ['memory', 'recall', '--space', 'few', '--subject', 'p0', ...store];
  expect(await assize(...recall)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/a rebuild or import is running.*assize memory rebuild/),
  });
  expect(await assize('memory', 'rebuild', ...store)).toMatchObject({ code: 0 });
  // Those that it had are still there.
  expect(await assize(...recall)).toMatchObject({ code: 0, out: expect.stringContaining('p0') });
  const more = ['memory', 'recall', '--space', 'many', '--subject', 'p5', ...store];
  expect(await assize(...more)).toMatchObject({ code: 0, out: expect.stringContaining('p5') });

  // A line that says the same by itself makes no embeddings, and the earlier ones stay.
  writeFileSync(join(here.folder, 'same.jsonl'), await exported('same', 1, 'few'));
  const same = await assize('import', 'same.jsonl', ...store);
  expect(same).toMatchObject({
    code: 1,
    err: expect.stringContaining('The facts cannot be rebuilt'),
  });
  expect(await assize(...recall)).toMatchObject({ code: 0, out: expect.stringContaining('p0') });

  // Where that import was ended before it could say so.
  const ended = await openWithRootKey(`sqlite:${join(here.folder, 'believing.db')}`);
  const again = await exported('again', 1, 'few');
  const each = splitLines(Readable.from([Buffer.from(again)]));
  await importLines(ended, each, { awaitsFacts: true });
  await ended.close();
  const incomplete = { code: 2, err: expect.stringContaining('a rebuild or import is running') };
  expect(await assize(...recall)).toMatchObject(incomplete);
  expect(await assize('memory', 'rebuild', ...store)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/assize memory rebuild --keep.*\n.*The facts cannot be rebuilt/),
  });
  expect(await assize(...recall)).toMatchObject(incomplete);
  expect(await assize('memory', 'rebuild', '--keep', ...store)).toMatchObject({ code: 1 });
  expect(await assize(...recall)).toMatchObject({ code: 0, out: expect.stringContaining('p0') });

  // An import that is refused in the middle of an atomic write has still brought some entries.
  const apart = await openStore('memory:');
  const others = runtimeOver(apart, [clinic]);
  const writ = writFor('nurse');
  for (const trajectoryId of ['new', 'few']) {
    const trajectory = await others.create(clinic, { trajectoryId, writs: [writ] });
    await trajectory
      .memory({ space: 'new', writ })
      .assert({ subject: trajectoryId, predicate: 'drug', object: 'x' });
  }
  await integrateLog(apart);
  let said = '';
  for await (const line of exportLines(apart)) said += line;
  writeFileSync(join(here.folder, 'apart.jsonl'), said);
  const refused = await assize('import', 'apart.jsonl', '--keep-invalid', ...store);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(/the import did not finish.*\n.*another entry at few/),
  });
  expect(await assize(...recall)).toMatchObject(incomplete);
  expect(await assize('memory', 'rebuild', '--keep', ...store)).toMatchObject({ code: 1 });

  // One that brings nothing leaves them as they are, wherever it ends.
  const nothing = await assize('import', 'part.jsonl', ...store);
  expect(nothing.err).toMatch(/^assize: [^\n]* its end is missing/);
  expect(await assize(...recall)).toMatchObject({ code: 0 });
});

test('an import that does not verify leaves facts of a cut import incomplete', async () => {
  const path = join(here.folder, 'unverified.db');
  const store = ['--store', `sqlite:${path}`];
  writeFileSync(join(here.folder, 'few.jsonl'), await exported('few', 3));
  writeFileSync(join(here.folder, 'more.jsonl'), await exported('more', 1));
  expect(await assize('import', 'few.jsonl', ...store)).toMatchObject({ code: 0 });
  const ended = await openWithRootKey(`sqlite:${path}`);
  await importLines(ended, splitLines(Readable.from([Buffer.from(await exported('lost', 1))])), {
    awaitsFacts: true,
  });
  await ended.close();
  const db = openUnguarded(path);
  db.exec(
    `UPDATE entry SET payload = replace(payload, 'few', 'two') WHERE payload LIKE '%"few"%' AND seq = 0`,
  );
  db.close();
  expect(await assize('import', 'more.jsonl', ...store)).toMatchObject({
    code: 1,
    out: expect.stringContaining('tampered'),
  });
  const recall = ['memory', 'recall', '--space', 'few', '--subject', 'p0', ...store];
  expect(await assize(...recall)).toMatchObject({
    code: 2,
    err: expect.stringContaining('a rebuild or import is running'),
  });
});
