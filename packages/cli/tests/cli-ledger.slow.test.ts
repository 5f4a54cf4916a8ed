/**
 * The content of a ledger, from the command line: read, verified, branched, and its pending
 * proposals resolved.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';
import { describe, expect, test } from 'vitest';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import { runtimeOver } from '../../../tests/support/ledger/runtime.ts';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';

const here = inTillFolder();
const { assize, json, refused, file, till, change, entries } = here;

describe('log, show and state', () => {
  test('log has a `begun` column only if a trajectory states its origin', async () => {
    const store = till();
    expect((await assize('log', ...store)).out).toMatch(
      /^trajectory {2}entries {2}head {10}domain {2}origin\ntill-1 {12}6 {2}[0-9a-f]{12} {2}till@1 {2}monday\n$/,
    );
    const plain = await openStore(`sqlite:${join(here.folder, 'plain.db')}`);
    await runtimeOver(plain, [clinic]).create(clinic, { trajectoryId: 'notes' });
    await plain.close();
    expect((await assize('log', '--store', 'sqlite:./plain.db')).out).toMatch(
      /^trajectory {2}entries {2}head {10}domain\nnotes {13}1 {2}[0-9a-f]{12} {2}clinic@1\n$/,
    );
  });

  test('log lists trajectories and entries', async () => {
    const store = till();
    expect(await json(0, 'log', ...store)).toMatchObject({
      total: 1,
      trajectories: [
        { trajectory_id: 'till-1', entries: 6, domain: { name: 'till' }, note: 'monday' },
      ],
    });
    const { log } = await json(0, 'log', 'till-1', ...store);
    expect(log.map(({ ruling }: { ruling: string }) => ruling)).toEqual([
      'begun',
      'committed',
      'rejected',
      'committed',
      'committed',
      'escalated',
    ]);
    expect(log[2]).toMatchObject({
      action: 'pay',
      invariant_id: 'CAP',
      detail: 'more than 1000 in all',
    });
    const { out } = await assize('log', 'till-1', '--from', '2', '--limit', '1', ...store);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).toMatch(/2 .*pay.*rejected.*CAP.*more than 1000 in all/);
  });

  test('show prints a whole entry, and large values on request', async () => {
    const store = till();
    const log = await entries(...store);
    const id = log[3]?.id as string;
    const shown = await json(0, 'show', id.slice(0, 8), ...store);
    expect(shown).toMatchObject({
      id,
      seq: 3,
      payload: { action: { args: { bytes: expect.any(Number) } } },
    });
    expect(shown.values.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/action/args',
      '/delta/state',
    ]);
    expect(shown.values[0].value).toBeUndefined();
    const whole = await json(0, 'show', id, '--blobs', ...store);
    expect(whole.values[0].value).toEqual({ amount: 20, memo: 'x'.repeat(20_000) });
    const { out } = await assize('show', id, ...store);
    expect(out).toMatch(/\/action\/args is a blob of 20,0\d\d bytes/);
    expect((await assize('show', id, '--blobs', ...store)).out).toContain('x'.repeat(20_000));
  });

  test('state folds, at any entry, whole or in part', async () => {
    const store = till();
    expect(await json(0, 'state', 'till-1', '--at', '1', ...store)).toMatchObject({
      seq: 1,
      state: { payments: [{ amount: 50, memo: 'paper' }] },
    });
    const { out } = await assize('state', 'till-1', '--pointer', '/payments/0/amount', ...store);
    expect(out).toBe('50\n');
  });

  test('text written by a model cannot move the cursor or hide', async () => {
    const store = till();
    const id = (await entries(...store))[4]?.id as string;
    for (const args of [
      ['show', id],
      ['state', 'till-1'],
      ['show', id, '--json'],
      ['state', 'till-1', '--json'],
    ]) {
      const { out } = await assize(...args, ...store);
      expect(out).toContain('\\u001b[31mred\\u202e\\u200b');
      expect(out).toMatch(/^[\n\x20-\x7e]*$/);
    }
    const { state } = await json(0, 'state', 'till-1', ...store);
    expect(state.payments[2].memo).toBe('\u001b[31mred\u202e\u200b');
  });

  test('a missing trajectory, entry or path is refused', async () => {
    const store = till();
    const id = (await entries(...store))[0]?.id as string;
    await refused(
      ['log', 'till-2', ...store],
      /no trajectory till-2\. Pass a full id, as listed by assize log/,
    );
    await refused(['log', 'til', ...store], /no trajectory til\. Pass the full id: till-1/);
    await refused(['show', id.slice(0, 7), ...store], /8 to 64 hex digits/);
    await refused(
      ['show', id.startsWith('00000000') ? 'ffffffff' : '00000000', ...store],
      /no entry/,
    );
    await refused(
      ['state', 'till-1', '--at', '6', ...store],
      /no entry with seq 6\. Pass a seq from 0 to 5/,
    );
    await refused(
      ['state', 'till-1', '--pointer', '/payments/9', ...store],
      /no value at \/payments\/9/,
    );
    await refused(['state', 'till-1', '--pointer', 'payments', ...store], /pointer/i);
    await refused(['verify', 'till-1', 'till-2', ...store], /no trajectory till-2/);
  });
});

describe('verify', () => {
  test('finds a whole ledger valid', async () => {
    const store = till();
    expect(await json(0, 'verify', ...store)).toMatchObject({
      valid: true,
      trajectories: 1,
      entries: 6,
      reports: [{ trajectory_id: 'till-1', valid: true, open: 1 }],
    });
    const { code, out } = await assize('verify', 'till-1', ...store);
    expect(code).toBe(0);
    expect(out).toContain('1 of 1 trajectories are valid, 6 entries.');
  });

  test('a manual payload change: names the trajectory, the seq and the mismatch', async () => {
    const store = till();
    change(`UPDATE entry SET payload = replace(payload, 'paper', 'pearl') WHERE seq = 1`);
    const { code, out } = await assize('verify', ...store);
    expect(code).toBe(1);
    expect(out).toMatch(/till-1 .*seq 1: the payload does not hash to the id \(tampered\)/);
    expect(await json(1, 'verify', ...store)).toMatchObject({
      valid: false,
      reports: [{ entries: 1, fault: { trajectory_id: 'till-1', seq: 1, code: 'tampered' } }],
    });
  });

  test('a changed ledger has no state, pending or decision; log and show read it', async () => {
    const store = till();
    const log = await entries(...store);
    change(`UPDATE entry SET payload = '{"half":' WHERE seq = 3`);
    for (const args of [['state', 'till-1'], ['pending'], ['diff', 'till-1', 'till-1@1']]) {
      const { code, out, err } = await assize(...args, ...store);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/till-1 seq 3: the payload does not hash to the id/);
    }
    const approved = await assize(
      'approve',
      log[5]?.id as string,
      '--as',
      'boss:ann',
      '--domain',
      'till.ts',
      ...store,
    );
    expect(approved).toMatchObject({ code: 1, err: expect.stringContaining('does not verify') });
    expect((await assize('log', 'till-1', ...store)).out).toMatch(/3 .*unreadable/);
    expect(await json(1, 'show', log[3]?.id as string, ...store)).toMatchObject({
      payload: '{"half":',
      fault: { seq: 3, code: 'tampered' },
    });
  });

  test('a changed or missing large value is found', async () => {
    const store = till();
    change(`UPDATE blob SET text = replace(text, 'xxxx', 'xxxy') WHERE text LIKE '[%'`);
    expect(await json(1, 'verify', ...store)).toMatchObject({
      reports: [{ fault: { seq: 3, code: 'blob_tampered' } }],
    });
  });

  test('a row that is gone is found', async () => {
    const store = till();
    change('DELETE FROM entry WHERE seq = 2');
    expect(await json(1, 'verify', ...store)).toMatchObject({
      reports: [{ fault: { seq: 3, code: 'broken_chain', rule: 'place.parent' } }],
    });
    expect((await assize('verify', ...store)).out).toContain(
      'seq 2 was expected here (broken_chain, place.parent)',
    );
  });
});

describe('branch and diff', () => {
  test('a branch starts at the given entry, and diff lists the later entries', async () => {
    const store = till();
    const ids = (await entries(...store)).map(({ id }) => id);
    const own = ['--domain', 'till.ts', ...store];
    const begun = await json(
      0,
      'branch',
      'till-1',
      '1',
      '--note',
      'what if',
      '--id',
      'tuesday',
      ...own,
    );
    expect(begun).toMatchObject({
      trajectory_id: 'tuesday',
      source: { trajectory_id: 'till-1', seq: 1 },
    });
    const { code, out } = await assize(
      'branch',
      'till-1',
      ids[3]?.slice(0, 10) as string,
      '--note',
      'again',
      ...own,
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^t-[0-9a-f]+ starts with [0-9a-f]{12}, from till-1 seq 3\.\n$/);
    expect(await json(1, 'diff', 'tuesday', 'till-1@3', ...store)).toMatchObject({
      equal: false,
      after: { trajectory_id: 'till-1', seq: 1, entry_id: ids[1] },
      entries: { from: [{ trajectory_id: 'tuesday', seq: 0 }], to: [{ seq: 2 }, {}] },
      patch: [{ op: 'add', path: '/payments/1', value: { amount: 20 } }],
    });
    const text = await assize('diff', 'tuesday', 'till-1', ...store);
    expect(text.code).toBe(1);
    expect(text.out).toContain('The chains are identical up to till-1 seq 1');
    expect(text.out).toMatch(/add +\/payments\/1 .*more characters\n/);
    expect(await json(0, 'diff', 'tuesday', 'till-1@1', ...store)).toMatchObject({
      equal: true,
      patch: [],
    });
    expect((await assize('verify', ...store)).code).toBe(0);
  });

  test('an entry that cannot be branched from is refused, and nothing is written', async () => {
    const store = till();
    const own = ['--note', 'n', '--domain', 'till.ts', ...store];
    await refused(['branch', 'till-1', '2', ...own], /is a rejection/);
    await refused(['branch', 'till-1', '9', ...own], /no entry with seq 9/);
    await refused(['branch', 'till-9', '0', ...own], /no trajectory till-9/);
    await refused(['branch', 'till-1', '0', '--id', 'till-1', ...own], /till-1 already/);
    await refused(
      ['branch', 'till-1', '0', '--note', 'n', ...store],
      /till@1 .*, and none of the \d+ given domains has that name/,
    );
    expect(await json(0, 'log', ...store)).toMatchObject({ total: 1 });
  });
});

describe('pending, approve and reject', () => {
  test('a pending proposal is shown with everything that it would do', async () => {
    const store = till();
    const [entry] = (await json(0, 'pending', ...store)).pending;
    expect(entry).toMatchObject({
      trajectory_id: 'till-1',
      seq: 5,
      action: { name: 'pay', args: { amount: 500 } },
      channel: 'boss',
      invariant_id: 'LARGE',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { code, out } = await assize('pending', 'till-1', ...store);
    expect(code).toBe(0);
    expect(out).toMatch(/till-1 +5 .*pay +boss +LARGE: .*over 100/);
  });

  test('an approval commits it, once, in the name of the counselor', async () => {
    const store = till();
    const [{ id, digest }] = (await json(0, 'pending', ...store)).pending;
    const how = ['--as', 'boss:ann', '--reason', 'desks are fine', '--domain', 'till.ts', ...store];
    const done = await json(0, 'approve', id.slice(0, 8), '--digest', digest.slice(0, 8), ...how);
    expect(done).toMatchObject({
      ruling: 'committed',
      resolves: id,
      trajectory_id: 'till-1',
      seq: 6,
    });
    const { payload } = await json(0, 'show', done.entry_id, ...store);
    expect(payload.counselor).toEqual({
      principal: 'boss:ann',
      as: 'boss',
      method: 'cli',
      reason: 'desks are fine',
    });
    expect((await json(0, 'state', 'till-1', ...store)).state.payments[3].by).toBe('boss:ann');
    await refused(['approve', id, ...how], /is no longer pending/);
    expect((await assize('pending', ...store)).out).toBe('No decision is pending.\n');
    expect((await assize('verify', ...store)).code).toBe(0);
  });

  test('a rejection is recorded with its reason', async () => {
    const store = till();
    const [{ id }] = (await json(0, 'pending', ...store)).pending;
    const { code, out } = await assize(
      ...[
        'reject',
        id,
        '--as',
        'boss:ann',
        '--reason',
        'too dear',
        '--domain',
        'till.ts',
        ...store,
      ],
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^rejected as [0-9a-f]{12}, till-1 seq 6: too dear\n$/);
    const log = await json(0, 'log', 'till-1', '--from', '6', ...store);
    expect(log.log[0]).toMatchObject({
      reason: 'counselor_rejected',
      counselor: 'boss:ann',
      resolves: id,
    });
  });

  test('a wrong principal, digest, entry or anchors: refused, nothing recorded', async () => {
    const store = till();
    const log = await entries(...store);
    const id = log[5]?.id as string;
    const own = ['--domain', 'till.ts', ...store];
    await refused(['approve', id, '--as', 'eve', ...own], /eve cannot resolve this proposal/);
    await refused(
      ['reject', id, '--as', 'agent:clerk', '--reason', 'r', ...own],
      /requested this proposal/,
    );
    await refused(
      ['approve', id, '--as', 'boss:ann', '--digest', 'deadbeef', ...own],
      /not the proposal that was shown/,
    );
    await refused(
      ['approve', log[1]?.id as string, '--as', 'boss:ann', ...own],
      /is a commit, not a pending proposal/,
    );
    await refused(
      ['approve', id, '--as', 'boss:ann', ...store],
      /^assize: The trajectory till-1 has the domain till@1 \([0-9a-f]{12}\), and none .* has that name\. Pass that domain .*--domain FILE/,
    );
    await refused(
      ['approve', id, '--as', 'boss:ann', '--anchors', 'none.json', ...own],
      /none\.json/,
    );
    const bad = file('bad.json', '["ff"]');
    await refused(
      ['approve', id, '--as', 'boss:ann', '--anchors', bad, ...own],
      /list of public keys/,
    );
    const other = file('other.json', `["${'3d'.repeat(31)}01"]`);
    await refused(
      ['approve', id, '--as', 'boss:ann', '--anchors', other, ...own],
      /but .*other\.json does not\. .*--anchors/,
    );
    rmSync(join(here.folder, 'till.db.anchors.json'));
    await refused(['approve', id, '--as', 'boss:ann', ...own], /no root public keys/);
    expect(await entries(...store)).toHaveLength(6);
  });
});
