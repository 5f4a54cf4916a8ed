/** Attacks on the snapshots of a signed ledger, by an attacker who lacks the key. */

import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { writId } from '#authority';
import { hashText, signText } from '#canon';
import { fsck } from '#checkpoints';
import { type EntrySigner, Replayer, type SnapshotRow } from '#ledger';
import type { AssizeOptions } from '#runtime';
import { snapshotSecretOf } from '../../packages/assize/src/runtime/options.ts';
import { foldTrajectory } from '../../packages/assize/src/runtime/writer/load/fold.ts';
import {
  type SnapshotKeys,
  snapshotOf,
} from '../../packages/assize/src/runtime/writer/snapshots/snapshot.ts';
import { desk } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const [signer, forger] = [31, 33].map(keysOf) as [EntrySigner, EntrySigner];
const worker = writFor('agent', { nonce: 'worker' });
const office = writFor('officer', {
  nonce: 'office',
  actions: ['assize.revoke'],
  scopes: ['writ:**'],
});

/** A trajectory in which `worker` was revoked, and the snapshot of it under those keys. */
async function revoked(
  keys: SnapshotKeys = { signer },
): Promise<{ store: MemoryStore; snapshot: SnapshotRow }> {
  const store = new MemoryStore();
  const t = await runtimeOver(store, [desk], keys.signer ? { signer } : {}).create(desk, {
    trajectoryId: 't',
    writs: [worker, office],
  });
  await t.propose(intent('add', { by: 1 }, worker));
  await t.writs.revoke({ writ: worker, reason: 'stolen', by: office });
  const folded = await foldTrajectory('t', new Replayer(store), store);
  return { store, snapshot: snapshotOf(folded, undefined, keys)! };
}

async function open(
  store: MemoryStore,
  snapshot: SnapshotRow,
  options: Partial<AssizeOptions> = { signer },
) {
  await store.dropSnapshots();
  await store.putSnapshot(snapshot, await store.erasures());
  const failed: string[] = [];
  const onSnapshotFailed = ({ message }: Error): void => void failed.push(message);
  const assize = runtimeOver(store, [desk], { ...options, snapshots: store, onSnapshotFailed });
  return { t: await assize.open('t'), failed };
}

/** The snapshot without its revocations, under the hash of its new text. */
function forged({ text, ...row }: SnapshotRow, line: (json: string) => string): SnapshotRow {
  const snapshot = JSON.parse(text.slice(text.indexOf('\n') + 1));
  for (const part of [snapshot.chain, snapshot.writs]) {
    expect(part.revoked).toEqual([writId(worker)]);
    part.revoked = [];
  }
  const json = JSON.stringify(snapshot);
  const made = line(json) + json;
  return { ...row, hash: hashText(made), text: made };
}

test('the own snapshot of a runtime with a signer is used', async () => {
  const { store, snapshot } = await revoked();
  const { t, failed } = await open(store, snapshot);
  expect({ revoked: t.writs.revoked(), failed }).toEqual({ revoked: [writId(worker)], failed: [] });
  expect(await fsck(store)).toMatchObject({ valid: true });
});

const { text: original } = (await revoked()).snapshot;
const signedBy =
  ({ publicKey, privateKey }: EntrySigner, name = publicKey) =>
  (json: string): string =>
    `${name} ${signText('snapshot', hashText(json), privateKey)}\n`;

test.each<[string, (json: string) => string]>([
  ['no signature', () => ''],
  ['the signature of the own snapshot', () => original.slice(0, original.indexOf('\n') + 1)],
  ['the signature of another key', signedBy(forger)],
  [
    'the signature of another key, under the name of the own one',
    signedBy(forger, signer.publicKey),
  ],
  [
    'an entry’s signature',
    (json) => `${signer.publicKey} ${signText('entry', hashText(json), forger.privateKey)}\n`,
  ],
])('a snapshot that takes a revocation back is not used: %s', async (_, line) => {
  const { store, snapshot } = await revoked();
  const { t, failed } = await open(store, forged(snapshot, line));
  expect(failed).toEqual([
    expect.stringMatching(/is not signed with a key that this runtime trusts/),
  ]);
  expect(t.writs.revoked()).toEqual([writId(worker)]);
  const use = await t.propose(intent('add', { by: 1 }, worker));
  expect(use).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
  expect(await fsck(store)).toMatchObject({ valid: false, faults: [{ code: 'snapshot_differs' }] });
});

describe('in an unsigned ledger, with a recovery key', () => {
  const recoveryKey = 'a secret of the runtime: 0123456789';
  const options = { effects: { recoveryKey } };
  const secret = snapshotSecretOf(options as never)!;

  test('the own snapshot is used', async () => {
    const { store, snapshot } = await revoked({ secret });
    const { t, failed } = await open(store, snapshot, options);
    expect({ revoked: t.writs.revoked(), failed }).toEqual({
      revoked: [writId(worker)],
      failed: [],
    });
    expect(await fsck(store)).toMatchObject({ valid: true });
  });

  test.each<[string, (text: string) => string]>([
    ['no MAC', () => ''],
    ['the MAC of the own snapshot', (text) => text.slice(0, text.indexOf('\n') + 1)],
    ['a MAC under another key', () => `mac ${'0'.repeat(64)}\n`],
  ])('a snapshot that takes a revocation back is not used: %s', async (_, line) => {
    const { store, snapshot } = await revoked({ secret });
    const { t, failed } = await open(
      store,
      forged(snapshot, () => line(snapshot.text)),
      options,
    );
    expect(failed).toEqual([
      expect.stringMatching(/was not made with the recovery key of this runtime/),
    ]);
    expect(t.writs.revoked()).toEqual([writId(worker)]);
  });
});
