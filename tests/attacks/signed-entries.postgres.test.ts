/** Attacks on a signed ledger, by an attacker who writes the database and lacks the key. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, describe, expect, test } from 'vitest';
import { auditCheckpoints, fsck, makeCheckpoint, verifyLogged } from '#checkpoints';
import { exportLines, importLines } from '#export';
import { type EntryRow, type EntrySigner, entryRow, type Payload } from '#ledger';
import { signerKey } from '#merkle';
import { verifyStore } from '#runtime';
import type { Store } from '#stores';
import { allEntries, desk } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { intent, operator, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { runCommand } from '../support/process/command.ts';
import { hasPython } from '../support/process/python-verifier.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-signed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [owner, next, forger] = [31, 32, 33].map(keysOf) as [EntrySigner, EntrySigner, EntrySigner];
const worker = writFor('agent');
const logKey = signerKey('example.com/signed', 'note', keysOf(5).privateKey);
const log = { origin: logKey.name, keys: [logKey] };
const entryKeys = [owner.publicKey];

/** A file for each key, for the command line. */
const file = (name: string, { privateKey }: EntrySigner): string => {
  const path = join(folder, `${name}.key`);
  writeFileSync(path, `${privateKey}\n`);
  return path;
};
const [ownerFile, nextFile] = [file('owner', owner), file('next', next)];

/** Two commits, and a proposal that waits for a counselor. */
async function fill(store: Store): Promise<void> {
  const t = await runtimeOver(store, [desk], { signer: owner }).create(desk, {
    trajectoryId: 't',
    writs: [worker],
  });
  await t.propose(intent('add', { by: 1 }, worker));
  await t.propose(intent('add', { by: 1 }, worker));
  await t.propose(intent('ask', { amount: 1 }, worker));
}

/** The export of a store. */
async function exported(store: Store): Promise<string> {
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}

/**
 * The commit of the pending proposal as a counselor would approve it, under the name of a counselor
 * that has approved nothing, signed with a given key or with none.
 */
async function forgedApproval(store: Store, signer: EntrySigner | undefined): Promise<EntryRow> {
  const copy = new MemoryStore();
  await makeCheckpoint(store, { signer: logKey });
  await importLines(copy, linesOf(await exported(store)));
  const t = await runtimeOver(copy, [desk], { signer: owner }).open('t');
  const { id } = t.approvals.pending()[0]!;
  await t.approvals.approve(id, { principal: 'dr-made-up', method: 'none' });
  const { signature: _, ...payload } = JSON.parse((await allEntries(copy, 't')).at(-1)!.payload);
  return entryRow(payload as Payload, signer);
}

/** The last entry of `t` without its signature, under a new id. */
function stripped({ payload }: EntryRow): EntryRow {
  const { signature: _, ...rest } = JSON.parse(payload);
  return entryRow(rest as Payload);
}

/** Every check of a store with a faulty entry, with what each says about it. */
async function expectRefused(place: Place, seq: number): Promise<void> {
  const store = await place.open({ checkpoint: false });
  const fault = { trajectory_id: 't', seq, code: 'bad_signature', rule: 'place.signed' };
  for (const options of [{ signer: owner }, {}, { signer: next, entryKeys }])
    await expect(runtimeOver(store, [desk], options).open('t')).rejects.toMatchObject({
      code: 'invalid_ledger',
      evidence: fault,
    });
  expect(await verifyStore(store)).toMatchObject([{ valid: false, fault }]);
  expect(await fsck(store)).toMatchObject({ valid: false, trajectories: [{ fault }] });

  const beforeSigning = (positions: { from: number; to: number }): Promise<unknown> =>
    verifyLogged(store, positions);
  await expect(makeCheckpoint(store, { signer: logKey, beforeSigning })).rejects.toMatchObject({
    code: 'invalid_ledger',
  });
  const first = (await makeCheckpoint(store, { signer: logKey })).signed;
  const audit = await auditCheckpoints(store, [first, first], log);
  expect(audit.findings).toEqual([expect.stringContaining(`t seq ${seq}`)]);

  const text = await exported(store);
  await expect(importLines(new MemoryStore(), linesOf(text))).rejects.toMatchObject({
    code: 'bad_export',
    message: expect.stringContaining('place.signed'),
  });
  if (!hasPython) return;
  const path = join(folder, 'forged.jsonl');
  writeFileSync(path, text);
  const verifier = join(import.meta.dirname, '../../verifiers/python/verify.py');
  const { status, stdout } = spawnSync('python3', ['-B', verifier, path, '--json'], {
    encoding: 'utf8',
  });
  expect({ status, findings: JSON.parse(stdout).findings }).toMatchObject({
    status: 1,
    findings: [{ seq, rule: fault.rule }],
  });
}

onEveryDatabase((stores) => {
  const { kind } = stores;
  const hex = (id: string): string => (kind === 'sqlite' ? `x'${id}'` : `'\\x${id}'::bytea`);

  async function made(): Promise<{ place: Place; store: Store }> {
    const place = stores.newPlace();
    const store = await place.open({ checkpoint: false });
    await fill(store);
    return { place, store };
  }

  describe('a signed ledger refuses, on opening and in every check', () => {
    test('an unsigned approval by a made-up counselor', async () => {
      const { place, store } = await made();
      await store.commit({ entries: [await forgedApproval(store, undefined)], blobs: [] });
      await expectRefused(place, 4);
    });

    test('an approval that is signed with another key', async () => {
      const { place, store } = await made();
      await store.commit({ entries: [await forgedApproval(store, forger)], blobs: [] });
      await expectRefused(place, 4);
    });

    test('a tail without its signature', async () => {
      const { place, store } = await made();
      const last = (await allEntries(store, 't')).at(-1)!;
      const bare = stripped(last);
      await place.sql(
        `DROP TRIGGER IF EXISTS entry_no_update${kind === 'sqlite' ? '' : ' ON entry'}`,
        `UPDATE entry SET id = ${hex(bare.id)}, payload = '${bare.payload.replaceAll("'", "''")}' WHERE id = ${hex(last.id)}`,
      );
      await expectRefused(place, 3);
    });

    test('a change of the key by the new key', async () => {
      const { place, store } = await made();
      const { id, seq } = (await allEntries(store, 't')).at(-1)!;
      const at = '2026-03-23T09:00:00.000000Z';
      const place_ = { trajectory_id: 't', seq: seq + 1, parent: id, at };
      const change = {
        kind: 'key_change',
        ...place_,
        to: forger.publicKey,
        reason: 'taken over',
      } as const;
      await store.commit({ entries: [entryRow(change, forger)], blobs: [] });
      await expectRefused(place, 4);
    });
  });

  test('a ledger rewritten without signatures is refused where keys are named', async () => {
    const place = stores.newPlace();
    const store = await place.open({ checkpoint: false });
    const t = await runtimeOver(store, [desk]).create(desk, { trajectoryId: 't', writs: [worker] });
    await t.propose(intent('add', { by: 1 }, worker));
    await expect(runtimeOver(store, [desk], { signer: owner }).open('t')).rejects.toMatchObject({
      code: 'wrong_signer',
    });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
    const fault = { seq: 0, code: 'bad_signature', rule: 'place.named' };
    expect(await verifyStore(store, { entryKeys })).toMatchObject([{ valid: false, fault }]);
    expect(await fsck(store, { entryKeys })).toMatchObject({
      valid: false,
      trajectories: [{ fault }],
    });
    const { signed } = await makeCheckpoint(store, { signer: logKey });
    expect(await auditCheckpoints(store, [signed, signed], log)).toMatchObject({ findings: [] });
    const named = await auditCheckpoints(store, [signed, signed], log, { entryKeys });
    expect(named.findings).toEqual([expect.stringContaining('place.named')]);
    for (const args of [['verify'], ['verify', '--database']]) {
      expect(await runCommand(folder, place.url, ...args)).toMatchObject({ code: 0 });
      expect(
        await runCommand(folder, place.url, ...args, '--entry-key', owner.publicKey),
      ).toMatchObject({ code: 1 });
    }
  });

  test('another signer continues only after a recorded change of the key', async () => {
    const { place, store } = await made();
    const other = runtimeOver(store, [desk], { signer: next, entryKeys });
    const [source] = await allEntries(store, 't');
    const before = await other.open('t');
    const { id } = before.approvals.pending()[0]!;
    const refuse = (t = before) =>
      t.approvals.reject(id, { principal: 'dr-who', method: 'test', reason: 'r' });
    await expect(refuse()).rejects.toMatchObject({ code: 'wrong_signer' });
    await expect(other.branch('t', source!.id, { note: 'n' })).rejects.toMatchObject({
      code: 'wrong_signer',
    });
    const change = { reason: 'rotation' };
    await expect(other.changeEntryKey('t', change)).rejects.toMatchObject({ code: 'wrong_signer' });
    await expect(other.changeEntryKey('t', { ...change, from: forger })).rejects.toMatchObject({
      code: 'wrong_signer',
    });
    await other.changeEntryKey('t', { ...change, from: owner });
    expect(await other.changeEntryKey('t', { ...change, from: owner })).toBeUndefined();
    const late = await runtimeOver(store, [desk], { signer: owner }).open('t');
    await expect(refuse(late)).rejects.toMatchObject({ code: 'wrong_signer' });
    expect(await refuse()).toMatchObject({ ruling: 'rejected' });
    expect(await verifyStore(store, { entryKeys })).toMatchObject([
      { valid: true, entries: 6, signed: 6 },
    ]);
    await expect(runtimeOver(store, [desk], { signer: next }).open('t')).rejects.toMatchObject({
      code: 'wrong_signer',
    });
    expect(
      await runCommand(folder, place.url, 'verify', '--entry-key', next.publicKey),
    ).toMatchObject({ code: 1 });
    expect(
      await runCommand(folder, place.url, 'verify', '--entry-key', owner.publicKey),
    ).toMatchObject({ code: 0 });
  });

  test('the command line signs, and changes the key', async () => {
    const { place, store } = await made();
    await store.close();
    const anchors = join(folder, 'anchors.json');
    writeFileSync(anchors, JSON.stringify([operator.publicKey]));
    const [pending] = (
      await place.open({ checkpoint: false }).then((open) => allEntries(open, 't'))
    ).slice(-1);
    const domain = join(folder, 'desk.ts');
    writeFileSync(
      domain,
      `export { desk } from ${JSON.stringify(join(import.meta.dirname, '../support/ledger/desk.ts'))};\n`,
    );
    // A name of a command line counts in local stores only.
    const isLocal = !place.url.startsWith('postgres:');
    const refusal = ['reject', pending!.id, '--as', 'dr-who', '--reason', 'no'];
    const reject = [...refusal, '--domain', domain, '--anchors', anchors];
    const bare = await runCommand(folder, place.url, ...reject);
    expect(bare).toMatchObject({
      code: 2,
      err: expect.stringContaining(isLocal ? 'signer' : 'assize serve'),
    });
    const change = ['keys', 'change', '--all', '--to', nextFile!, '--reason', 'rotation'];
    expect(
      await runCommand(folder, place.url, ...change, '--from', ownerFile!, '--json'),
    ).toMatchObject({ code: 0 });
    const signed = [...reject, '--signer', nextFile!, '--entry-key', owner.publicKey];
    expect(await runCommand(folder, place.url, ...signed)).toMatchObject({ code: isLocal ? 0 : 2 });
    expect(
      await runCommand(folder, place.url, 'verify', '--entry-key', owner.publicKey),
    ).toMatchObject({ code: 0 });
  });
});
