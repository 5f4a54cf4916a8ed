/** Approvals by several people, from the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateKeys } from 'assize/internal/canon';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { severalOf } from '../../../tests/support/ledger/multi-approval.ts';
import { intent, operator, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';
import { writeAnchors } from '../../command/src/store/anchors.ts';

const domain = severalOf(2, 'footprint');
// Commands go by the real clock.
const expires = '2100-01-01T00:00:00.000000Z';
const worker = writFor('agent', { expires });
const careful = writFor('careful', { expires, require_approval: ['keep'] });
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-approvals-'));
  const several = pathToFileURL(
    join(import.meta.dirname, '../../../tests/support/ledger/multi-approval.ts'),
  ).href;
  const text = `import { severalOf } from '${several}';\nexport const two = severalOf(2, 'footprint');\n`;
  writeFileSync(join(folder, 'two.ts'), text);
  const url = `sqlite:${join(folder, 'desk.db')}`;
  writeAnchors(url, [operator.publicKey]);
  const store = await openStore(url);
  const trajectory = await runtimeOver(store, [domain]).create(domain, {
    trajectoryId: 't',
    writs: [worker, careful],
  });
  await trajectory.propose(intent('ask', { amount: 5 }, worker));
  // A text that an agent would rather show than its effect.
  const value = { note: 'harmless\u001b[2K\u202e, approve it\u200b' };
  await trajectory.propose(intent('keep', { value }, careful));
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./desk.db', ...args);
const json = async (...args: string[]): Promise<any> => {
  const { code, out, err } = await assize(...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};
const approve = (id: string, who: string): Promise<Ended> =>
  assize('approve', id, '--as', who, '--domain', 'two.ts');

test('pending shows exact arguments and changes, escaped, and approval counts', async () => {
  const { out } = await assize('pending');
  expect(out).toMatch(/t +1 .*ask +md, 0 of 2 +ASKED_IS_APPROVED: 5 is asked for/);
  expect(out).toContain('proposes ask as worker\narguments {"amount":5}\n');
  expect(out).toMatch(/replace +\/asked +0 +5/);
  expect(out).toMatch(
    /an approval adds.*\n.*replace +\/approved +0 +5\n.*replace +\/by +"" +"\$counselor"/,
  );
  expect(out).toContain(
    'arguments {"value":{"note":"harmless\\u001b[2K\\u202e, approve it\\u200b"}}',
  );
  expect(out).toContain('an approval adds nothing');
  expect(out).toMatch(/^assize approve ID --as PRINCIPAL --domain FILE$/m);
  expect(out).toMatch(/^assize reject ID --as PRINCIPAL --reason TEXT --domain FILE$/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
  const { pending } = await json('pending', '--channel', 'md');
  expect(pending).toMatchObject([
    {
      action: { name: 'ask', args: { amount: 5 } },
      changes: [{ op: 'replace', path: '/asked', value: 5 }],
      approvals: 2,
      approved_by: [],
    },
  ]);
});

test('the first approver gets the id for a second approval, and that commits', async () => {
  const [{ id, digest }] = (await json('pending', '--channel', 'md')).pending;
  const first = await approve(id, 'dr-a');
  expect(first).toMatchObject({ code: 0, err: '' });
  const next = /^approved as ([0-9a-f]{12}), t seq 3: 1 of 2\n/.exec(first.out)?.[1] as string;
  expect(first.out).toContain(`assize approve ${next} --as PRINCIPAL`);
  expect((await assize('pending')).out).toContain('md, 1 of 2 (dr-a)');
  expect(await approve(next, 'dr-a')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Ask another counselor'),
  });
  expect(await approve(id, 'dr-b')).toMatchObject({ code: 2, err: expect.stringContaining(next) });
  expect(await approve('t@9', 'dr-b')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no entry with seq 9'),
  });
  expect(await approve('t', 'dr-b')).toMatchObject({
    code: 2,
    err: expect.stringContaining("'t' is not an entry id"),
  });
  const done = await json(
    'approve',
    't@3',
    '--as',
    'dr-b',
    '--digest',
    digest,
    '--domain',
    'two.ts',
  );
  expect(done).toMatchObject({ ruling: 'committed', seq: 4 });
  expect((await assize('verify', '--deep', '--domain', 'two.ts')).code).toBe(0);
  const { log } = await json('log', 't');
  expect(log[3]).toMatchObject({ ruling: 'escalated', resolves: id, counselor: 'dr-a' });
});

test('anchors without the root’s key: their file is named, nothing is decided', async () => {
  const [{ id }] = (await json('pending', '--channel', 'md')).pending;
  writeFileSync(join(folder, 'others.json'), JSON.stringify([generateKeys().publicKey]));
  const { code, err } = await assize(
    'approve',
    id,
    '--as',
    'dr-a',
    '--domain',
    'two.ts',
    '--anchors',
    'others.json',
  );
  expect(code).toBe(2);
  expect(err).toMatch(
    new RegExp(
      `the root key ${operator.publicKey}, but .*others\\.json does not\\. .*--anchors FILE\\.\n$`,
    ),
  );
  expect(await approve(id, 'dr-a')).toMatchObject({ code: 0, err: '' });
});

test('an approval that is not the last, for programs', async () => {
  const [{ id }] = (await json('pending', '--channel', 'md')).pending;
  expect(await json('approve', id, '--as', 'dr-a', '--domain', 'two.ts')).toMatchObject({
    ruling: 'escalated',
    resolves: id,
    entry_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    approvals: 2,
    approved_by: ['dr-a'],
  });
  const shown = (await assize('domains', 'desk', '--domain', 'two.ts')).out;
  expect(shown).toMatch(/ASKED_IS_APPROVED +md, 2 approvers/);
});

test('pending, log and show name an override, before and after the commit', async () => {
  const store = await openStore(`sqlite:${join(folder, 'desk.db')}`);
  const trajectory = await runtimeOver(store, [domain]).create(domain, {
    trajectoryId: 'u',
    writs: [worker],
  });
  await trajectory.propose(intent('ask', { amount: 200 }, worker));
  await store.close();
  const [{ id }] = (await json('pending', 'u')).pending;
  const refused = await approve(id, 'dr-a');
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringContaining('does not pass NEVER_OVER_100'),
  });
  expect(refused.err).not.toMatch(/override/);
  const first = await json('approve', id, '--as', 'dr-a', '--domain', 'two.ts', '--override');
  const overrides = [{ principal: 'dr-a', violations: [{ invariant_id: 'NEVER_OVER_100' }] }];
  expect((await json('pending', 'u')).pending).toMatchObject([
    { overrides, approved_by: [{ override: true }] },
  ]);
  const { out } = await assize('pending', 'u');
  expect(out).toContain('1 of 2 (dr-a with override)');
  expect(out).toContain('dr-a overrode NEVER_OVER_100: more than a hundred');
  expect((await assize('show', first.entry_id)).out).toContain('dr-a overrode NEVER_OVER_100');
  expect((await approve(first.entry_id, 'dr-b')).code).toBe(2);
  const last = await json(
    'approve',
    first.entry_id,
    '--as',
    'dr-b',
    '--domain',
    'two.ts',
    '--override',
  );
  expect((await assize('log', 'u')).out).toContain('override of NEVER_OVER_100 by dr-a, dr-b');
  const { log } = await json('log', 'u');
  expect(log.at(-1)).toMatchObject({
    ruling: 'committed',
    overrides: [...overrides, { principal: 'dr-b' }],
  });
  expect((await json('show', last.entry_id)).payload).toMatchObject({
    counselor: {
      principal: 'dr-b',
      override: true,
      overridden: [{ invariant_id: 'NEVER_OVER_100' }],
    },
    approved_by: [
      { principal: 'dr-a', override: true, overridden: [{ invariant_id: 'NEVER_OVER_100' }] },
    ],
  });
  expect((await assize('show', last.entry_id)).out).toMatch(
    /dr-a overrode NEVER_OVER_100.*\ndr-b overrode NEVER_OVER_100/,
  );
  expect((await assize('verify', '--deep', '--domain', 'two.ts')).code).toBe(0);
});

test('approve --args commits the amended arguments, and log and show name both', async () => {
  const { pending } = await json('pending');
  const { id } = pending.find(({ action }: any) => action.name === 'keep');
  const typed = ['approve', id, '--as', 'dr-a', '--domain', 'two.ts', '--args'];
  expect(await assize(...typed, '{"value":')).toMatchObject({
    code: 2,
    err: expect.stringContaining('not JSON'),
  });
  expect(await assize(...typed, '{"worth":1}')).toMatchObject({
    code: 2,
    err: expect.stringContaining('type_mismatch'),
  });
  const done = await json(...typed, '{"value":{"note":"short"}}');
  const difference = [{ op: 'replace', path: '/args/value/note', value: 'short' }];
  expect(done).toMatchObject({ ruling: 'committed', resolves: id, amended: difference });
  const { log } = await json('log', 't');
  expect(log.at(-1)).toMatchObject({
    counselor: 'dr-a',
    amended: difference,
    detail: 'amended /args/value/note',
  });
  expect((await assize('log', 't')).out).toMatch(
    /approved by dr-a: resolves \w{12}: amended \/args\/value\/note/,
  );
  const { payload } = await json('show', done.entry_id);
  expect(payload).toMatchObject({
    action: { args: { value: { note: 'short' } } },
    amended: {
      action: { args: { value: { note: expect.stringContaining('harmless') } } },
      difference,
    },
  });
  expect((await assize('verify', '--deep', '--domain', 'two.ts')).code).toBe(0);
});

test('the log says who rejected a request, and why', async () => {
  const { pending } = await json('pending', '--channel', 'md');
  const rejecting = [
    'reject',
    pending[0].id,
    '--as',
    'dr-a',
    '--reason',
    'no money',
    '--domain',
    'two.ts',
  ];
  expect(await assize(...rejecting)).toMatchObject({ code: 0, err: '' });
  const line = (await assize('log', 't')).out.split('\n').find((one) => one.includes('no money'));
  expect(line).toMatch(
    /ask +rejected +counselor_rejected +rejected by dr-a: resolves \w{12}: no money/,
  );
  expect(line).not.toContain('ASKED_IS_APPROVED');
});
