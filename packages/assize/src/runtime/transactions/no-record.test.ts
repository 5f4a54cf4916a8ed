/**
 * An open transaction in the effect log without records, or with an invalid record, as a damaged
 * store may have.
 */

import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { bodyText, claimTexts, readClaim, readTransaction } from '#effects';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { errorOf } from '../../../../../tests/support/process/errors.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import type { Assize } from '../assize.ts';
import { verifyStore } from '../inspect/verify.ts';

const DAMAGED = {
  code: 'log_damaged',
  message: expect.stringMatching(/^The effect log is damaged: transaction 1 has no record.*backup/),
};

describe.each([
  ['whose effects one process has at a time', {}],
  ['that several work on', { shared: true }],
])('in a store %s', (_, options) => {
  let store: MemoryStore;

  beforeEach(async () => {
    store = new MemoryStore(options);
    const assize = runtimeOver(store, [tally]);
    for (const trajectoryId of ['damaged', 'other']) await assize.create(tally, { trajectoryId });
    await assize.close();
    const { fence, release } = await store.leaseEffects();
    const claims = claimTexts([readClaim('write', 'test:a')]);
    const body = bodyText({
      transaction: 'lost',
      principal: 'alice',
      writ_id: '0'.repeat(64),
      claims,
    });
    await store.logEffects({ fence, begun: [{ epoch: 1, trajectory_id: 'damaged', body }] });
    await release();
  });

  function opened(): Assize {
    const outside = {
      sink: new OutsideSink('blind'),
      steps: new Steps(),
      fault: () => 'none' as const,
    };
    const assize = runtimeOver(store, [tally], {
      tools: [toolFor(outside, 'reversible', 'buffered')],
    });
    onTestFinished(() => assize.close());
    return assize;
  }

  test('recovery names the transaction without a record and leaves it unchanged', async () => {
    const before = await store.openEffects();
    const assize = opened();
    await expect(assize.recoverEffects()).rejects.toMatchObject(DAMAGED);
    await expect(assize.effects()).rejects.toMatchObject(DAMAGED);
    expect(await store.openEffects()).toEqual(before);
  });

  test('no tool is called, as the scopes of that transaction are unknown', async () => {
    const trajectory = await opened().open('other');
    const writ = writFor('alice');
    await expect(
      trajectory.transaction({ writ, writes: ['test:b'] }, () => undefined),
    ).rejects.toMatchObject(DAMAGED);
  });

  test('verify names it, with its trajectory', async () => {
    const reports = await verifyStore(store);
    expect(
      reports.map(({ trajectory_id, fault }) => [trajectory_id, fault?.code, fault?.detail]),
    ).toEqual([
      ['damaged', 'effects_differ', expect.stringContaining('transaction 1 has no record')],
      ['other', undefined, undefined],
    ]);
  });
});

const key = 'a'.repeat(64);
const intended = `{"class":{"delivery":"externalised","reversibility":"reversible","sink":"keyed"},"is":"intended","key":"${key}","payload":{"$blob":"${key}","bytes":1,"salted":true},"tool":"t"}`;
const SOUND = `[${intended},{"is":"executed","n":0}]`;

test.each<[string, readonly string[]]>([
  [
    'of an effect that it has not',
    [SOUND, '[{"cause":"x","is":"aborting"},{"is":"undone","n":1}]'],
  ],
  ['of no effect', [`[${intended},{"is":"executed","n":-1}]`]],
  ['of an effect that is not a number', [`[${intended},{"is":"executed","n":"0"}]`]],
  ['whose first record is lost', ['[{"is":"executed","n":0}]']],
  ['that says nothing', [SOUND, '[null]']],
  ['that commits nothing', [SOUND, `[{"entry":"${key}","is":"committed"}]`]],
  ['that claims nothing', [SOUND, '[{"is":"expanded"}]']],
  ['that is cut off', [SOUND, '[{"is":"aborting"']],
])('a record %s is named, and nothing is made of it', (_, records) => {
  const body = bodyText({
    transaction: 'lost',
    principal: 'alice',
    writ_id: '0'.repeat(64),
    claims: [],
  });
  const logged = { epoch: 1, trajectory_id: 't', body, records };
  expect(() => readTransaction({ ...logged, records: [SOUND] })).not.toThrow();
  const bodies = [body.slice(1), 'null', '{}'].map(
    (other) => () => readTransaction({ ...logged, body: other }),
  );
  for (const read of [() => readTransaction(logged), ...bodies])
    expect(errorOf(read)).toMatchObject({
      code: 'log_damaged',
      message: expect.stringMatching(/^The effect log is damaged: transaction 1 has .*backup/),
    });
});
