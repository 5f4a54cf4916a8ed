/**
 * Attacks 13 to 16 of docs/design/threats.md: by an attacker with write access to the whole
 * database, and perhaps a signing key.
 */
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { generateKeys, hashText } from '#canon';
import { auditCheckpoints, fileSink, httpWitness, makeCheckpoint } from '#checkpoints';
import type { EntryRow } from '#ledger';
import { formatVerifierKey, type SignerKey, signerKey } from '#merkle';
import { verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { WitnessFile, witnessServer } from '#witness';
import { batchOf } from '../../packages/testing/src/store-rows.ts';
import { allEntries, desk } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { type Databases, onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { runCommand } from '../support/process/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-tampering-'));
afterAll(() => rmSync(folder, { recursive: true }));

const worker = writFor('agent');
const key = (name: string, use: 'note' | 'cosignature', seed: number): SignerKey =>
  signerKey(name, use, generateKeys(new Uint8Array(32).fill(seed)).privateKey);
const signer = key('example.com/ledger', 'note', 1);
const log = { origin: signer.name, keys: [signer] };
let files = 0;

/** The trajectories t, of nine entries, and u, of two. */
async function fill(store: Store, by = 1): Promise<void> {
  const assize = runtimeOver(store, [desk]);
  const t = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  for (let n = 0; n < 4; n++) {
    await t.propose(intent('add', { by }, worker));
    await t.propose(intent('add', { by: 99 }, worker));
  }
  const u = await assize.create(desk, { trajectoryId: 'u', writs: [worker] });
  await u.propose(intent('add', { by }, worker));
}

/** Signs what there is, and keeps it in a file of its own. */
async function checkpointed(place: Place): Promise<string> {
  const store = await openStore(place.url, { checkpoint: false });
  const file = join(folder, `${++files}.checkpoint`);
  await makeCheckpoint(store, { signer, sinks: [fileSink(file)] });
  await store.close();
  return file;
}

onEveryDatabase((stores) => {
  const { kind } = stores;
  const hex = (id: string): string => (kind === 'sqlite' ? `x'${id}'` : `'\\x${id}'::bytea`);
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

  async function made(): Promise<{ place: Place; rows: readonly EntryRow[] }> {
    const place = stores.newPlace();
    const store = await openStore(place.url);
    await fill(store);
    const rows = await allEntries(store, 't');
    await store.close();
    return { place, rows };
  }

  async function faultsOf(place: Place) {
    const store = await place.open({ checkpoint: false });
    return (await verifyStore(store, { threads: 1 })).flatMap(({ fault }) => fault ?? []);
  }

  /**
   * Checks that `t` gets no entry, that no branch starts at the faulty entry or later, and that `u`
   * continues.
   */
  async function expectClosed(
    place: Place,
    rows: readonly EntryRow[],
    fault: number,
  ): Promise<void> {
    const store = await place.open();
    const assize = runtimeOver(store, [desk]);
    const before = await allEntries(store, 't');
    await expect(assize.open('t')).rejects.toMatchObject({
      code: 'invalid_ledger',
      message: expect.stringContaining('accepts no more entries'),
    });
    for (const { id } of rows.filter(({ kind: is, seq }) => is === 'commit' && seq >= fault)) {
      const branching = assize.branch('t', id, { note: 'from what was changed' });
      await expect(branching).rejects.toMatchObject({ code: 'invalid_ledger' });
    }
    expect(await allEntries(store, 't')).toEqual(before);
    const u = await assize.open('u');
    expect(await u.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
  }

  describe('attack 13: a payload byte changed by SQL: verify names seq, open refuses', () => {
    test('every entry in turn', async () => {
      const { place, rows } = await made();
      for (const { seq, id, payload } of rows) {
        const at = (seq * 101 + 7) % payload.length;
        const changed =
          payload.slice(0, at) +
          String.fromCharCode(payload.charCodeAt(at) ^ 1) +
          payload.slice(at + 1);
        const write = (text: string) =>
          place.sql(`UPDATE entry SET payload = ${quoted(text)} WHERE id = ${hex(id)}`);
        await write(changed);
        expect(await faultsOf(place)).toMatchObject([{ trajectory_id: 't', seq }]);
        await expectClosed(place, rows, seq);
        await write(payload);
        expect(await faultsOf(place)).toEqual([]);
      }
    });

    test('on the command line: exit code 1, with the seq', async () => {
      const { place, rows } = await made();
      const { id, payload } = rows[3]!;
      await place.sql(
        `UPDATE entry SET payload = ${quoted(payload.replace('"by":1', '"by":2'))} WHERE id = ${hex(id)}`,
      );
      const { code, out } = await runCommand(folder, place.url, 'verify');
      expect({ code, out }).toEqual({
        code: 1,
        out: expect.stringMatching(/^t .*seq 3: .*\(tampered\)/m),
      });
    });
  });

  describe('attack 14: a deleted tail or old backup: behind its checkpoint, refused', () => {
    const refusal = (missing: number) => ({
      code: 'bad_checkpoint',
      message: expect.stringMatching(`${missing} entr(y is|ies are) missing`),
    });

    test.each([1, 2, 5, 11])('the last %i entries, with their places in the log', async (count) => {
      const { place } = await made();
      const checkpoint = await checkpointed(place);
      await (await openStore(place.url, { checkpoint })).close();
      const kept = 11 - count;
      await place.sql(
        `DELETE FROM entry WHERE position > (SELECT max(position) FROM entry) - ${count}`,
        `DELETE FROM log WHERE idx >= ${kept}`,
        `DELETE FROM log_node WHERE (idx + 1) << level > ${kept}`,
      );
      // The chain alone does not see it.
      if (kept > 0) expect(await faultsOf(place)).toEqual([]);
      await expect(openStore(place.url, { checkpoint })).rejects.toMatchObject(refusal(count));
      const args = [
        'verify',
        '--database',
        '--checkpoint',
        checkpoint,
        '--log-key',
        formatVerifierKey(signer),
      ];
      expect(await runCommand(folder, place.url, ...args)).toMatchObject({ code: 1 });
    });

    test('a backup', async () => {
      const { place } = await made();
      await checkpointed(place);
      const restore = await backup(stores, place);
      await runtimeOver(await place.open(), [desk]).create(desk, {
        trajectoryId: 'later',
        writs: [worker],
      });
      const checkpoint = await checkpointed(place);
      await restore();
      expect(await faultsOf(place)).toEqual([]);
      await expect(openStore(place.url, { checkpoint })).rejects.toMatchObject(refusal(1));
    });
  });

  describe('attack 15: the chain rewritten and signed: audit exits 1, witness 422', () => {
    test('by a holder of the log’s key', async () => {
      const { place } = await made();
      const witness = await startWitness();
      const cosign = async (): Promise<string> => {
        const store = await openStore(place.url, { checkpoint: false });
        try {
          return (await makeCheckpoint(store, { signer, witnesses: [witness()] })).signed;
        } finally {
          await store.close();
        }
      };
      await cosign();
      const old = await checkpointed(place);
      await place.sql(
        ...['entry', 'log', 'log_node', 'trajectory', 'blob'].map(
          (table) => `DELETE FROM ${table}`,
        ),
      );
      const store = await openStore(place.url, { checkpoint: false });
      await fill(store, 2);
      // As long, and longer.
      for (const more of [0, 1]) {
        if (more > 0)
          await runtimeOver(store, [desk]).create(desk, { trajectoryId: 'more', writs: [worker] });
        expect(await faultsOf(place)).toEqual([]);
        const fresh = await checkpointed(place);
        const signed = [readFileSync(old, 'utf8'), readFileSync(fresh, 'utf8')] as const;
        expect(await auditCheckpoints(store, signed, log)).toMatchObject({ consistent: false });
        const args = [
          '--checkpoint',
          old,
          '--checkpoint',
          fresh,
          '--log-key',
          formatVerifierKey(signer),
        ];
        expect(await runCommand(folder, place.url, 'verify', ...args)).toMatchObject({ code: 1 });
        await expect(cosign()).rejects.toMatchObject({
          code: 'witness_failed',
          message: expect.stringContaining('it answered 422'),
        });
        await expect(openStore(place.url, { checkpoint: old })).rejects.toMatchObject({
          code: 'bad_checkpoint',
          message: expect.stringContaining('(checkpoint'),
        });
      }
      await store.close();
    });
  });

  describe('attack 16: swapped entries or a second seq: refused, or verify names one', () => {
    test('swapped', async () => {
      const { place, rows } = await made();
      const at = (seq: number, id: string): string =>
        `UPDATE entry SET seq = ${seq} WHERE id = ${hex(id)}`;
      const [first, second] = [rows[3]!, rows[4]!];
      await place.sql(at(1_000, first.id), at(3, second.id), at(4, first.id));
      expect(await faultsOf(place)).toMatchObject([
        { trajectory_id: 't', seq: 3, code: 'column_mismatch' },
      ]);
      expect(await runCommand(folder, place.url, 'verify')).toMatchObject({ code: 1 });
      await expectClosed(place, rows, 5);
    });

    test('a fork', async () => {
      const { place, rows } = await made();
      const { id, payload, parent } = rows[8]!;
      const fork = payload.replace('"by":99', '"by":98');
      const insert = (forkId: string): Promise<void> =>
        place.sql(`INSERT INTO entry (trajectory, seq, id, parent, kind, payload)
          SELECT trajectory, seq, ${hex(forkId)}, parent, kind, ${quoted(fork)} FROM entry WHERE id = ${hex(id)}`);
      await expect(insert(hashText(fork))).rejects.toThrow(/unique/i);
      const store = await place.open();
      const row = { ...rows[8]!, id: hashText(fork), payload: fork, parent };
      expect(await store.commit(batchOf(row))).toEqual({
        status: 'conflict',
        trajectory_id: 't',
        seq: 8,
      });
      expect(await allEntries(store, 't')).toEqual(rows);
      expect(await faultsOf(place)).toEqual([]);
    });
  });
});

/** Puts the database back as it is now. */
async function backup({ kind }: Databases, place: Place): Promise<() => Promise<void>> {
  if (kind === 'sqlite') {
    const path = place.url.slice('sqlite:'.length);
    copyFileSync(path, `${path}.backup`);
    return async () => {
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      copyFileSync(`${path}.backup`, path);
    };
  }
  const tables = ['trajectory', 'entry', 'blob', 'log', 'log_node'];
  await place.sql(...tables.map((table) => `CREATE TABLE kept_${table} AS TABLE ${table}`));
  return () =>
    place.sql(
      ...tables.flatMap((table) => [
        `DELETE FROM ${table}`,
        `INSERT INTO ${table} SELECT * FROM kept_${table}`,
      ]),
    );
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A witness with another owner; each caller of it forgets what the last one knew. */
async function startWitness(): Promise<() => ReturnType<typeof httpWitness>> {
  const cosigner = key('witness.example', 'cosignature', 2);
  const file = new WitnessFile(join(folder, `${++files}.witness.db`));
  const server = witnessServer({ logs: [log], signer: cosigner, file, now: () => 1_800_000_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    file.close();
  });
  const { port } = server.address() as AddressInfo;
  return () => httpWitness({ url: `http://127.0.0.1:${port}/`, key: cosigner });
}
