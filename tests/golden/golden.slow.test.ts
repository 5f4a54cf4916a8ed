/**
 * Ledgers that were written once and are never written again: every version must return the same
 * verdict.
 */
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { replayRun } from '#agents';
import { exportLines, importLines } from '#export';
import { type Domain, defineDomain } from '#kernel';
import { type RootPayload, readRow } from '#ledger';
import { OPEN_END } from '#memory';
import { openCheckpoint, parseVerifierKey } from '#merkle';
import type { OracleRow } from '#oracle';
import { deepReplay } from '#replay';
import { checkMemory, verifyStore } from '#runtime';
import { openStore } from '#stores';
import { severalOf } from '../support/ledger/multi-approval.ts';
import { operator, runtimeOver } from '../support/ledger/runtime.ts';
import { asked, atMost, counter } from '../support/ledger/versions.ts';
import { hasPython, PythonVerifier } from '../support/process/python-verifier.ts';
import { changed, FACTS, type Golden, linesOf, V1, verdictsOf } from './ledger.ts';
import { clerk, filing } from './run.ts';

const goldenOf = (file: string): Golden[] =>
  JSON.parse(readFileSync(join(V1, file), 'utf8')) as Golden[];
const golden = goldenOf('golden.json');
/** Decisions that take several people. */
const several = goldenOf('several.json');
/** Changes of facts by commits. */
const beliefs = goldenOf('beliefs.json');
/** The inherited content of a new branch. */
const inherited = goldenOf('inherited.json');
/** Versions of a domain, one after the other. */
const upgrades = goldenOf('upgrades.json');
const all = [...golden, ...several, ...beliefs, ...inherited, ...upgrades].map(
  (one) => [`${one.of}: ${one.name}`, one] as const,
);
const folder = mkdtempSync(join(tmpdir(), 'assize-golden-'));
const python = new PythonVerifier();
afterAll(() => {
  python.end();
  rmSync(folder, { recursive: true });
});

describe('version 1 of the ledger', () => {
  test.each(all)('%s', async (_, { of, change, name, ...expected }) => {
    expect(await verdictsOf(of, change)).toEqual(expected);
  });

  test.each([[golden], [several], [beliefs], [inherited], [upgrades]])(
    'has a valid case, and every other case is found by a check',
    (list) => {
      const [honest, ...others] = list as [Golden, ...Golden[]];
      expect(honest).toMatchObject({ export: null, checkpoint: 'at' });
      expect(honest.verify.every(({ fault }) => fault === undefined)).toBe(true);
      for (const { name, verify, export: line, checkpoint } of others) {
        const found =
          verify.some(({ fault }) => fault !== undefined) || line !== null || checkpoint !== 'at';
        expect(found, name).toBe(true);
      }
    },
  );

  test.skipIf(!hasPython).each(all)(
    '%s, as the verifier in Python has it',
    async (_, { of, change, verify, export: line }) => {
      const file = join(folder, 'changed.jsonl');
      writeFileSync(file, `${changed(linesOf(of), change).join('\n')}\n`);
      const { code, err } = await python.verify(file, '--json');
      const sound = line === null && verify.every(({ fault }) => fault === undefined);
      expect({ code, err }).toEqual({ code: sound ? 0 : 1, err: '' });
    },
  );

  test('has all kinds of entries, and every reason that the runtime gives', () => {
    const payloads = linesOf('honest.jsonl').flatMap((line) => {
      const { payload } = JSON.parse(line) as { payload?: { kind: string; reason?: string } };
      return payload === undefined ? [] : [payload];
    });
    const kinds = new Set(payloads.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual([
      'branch',
      'commit',
      'delegation',
      'pending_approval',
      'rejection',
      'root',
    ]);
    const reasons = new Set(
      payloads.flatMap(({ kind, reason }) => (kind === 'rejection' ? [reason] : [])),
    );
    for (const reason of [
      'invariant_rejected',
      'unknown_tool',
      'type_mismatch',
      'precondition_failed',
      'counselor_rejected',
      'expired',
    ])
      expect(reasons).toContain(reason);
  });

  test('its checkpoint has the signature of its key', () => {
    const key = parseVerifierKey(readFileSync(join(V1, 'honest.jsonl.vkey'), 'utf8').trim());
    const note = readFileSync(join(V1, 'honest.jsonl.checkpoint'), 'utf8');
    expect(openCheckpoint(note, { origin: 'example.com/golden', keys: [key] })).toMatchObject({
      valid: true,
    });
  });

  /** A copy of a golden store that nothing has opened. */
  function copyOf(file: string): string {
    const path = join(folder, file);
    copyFileSync(join(V1, file), path);
    return path;
  }

  test('its database file opens, and exports the same bytes', async () => {
    const store = await openStore(`sqlite:${copyOf('store.sqlite')}`);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    expect(text).toBe(readFileSync(join(V1, 'honest.jsonl'), 'utf8'));
    const reports = await verifyStore(store, { threads: 2 });
    expect(
      reports.map(({ trajectory_id, entries, head }) => ({ trajectory_id, entries, head })),
    ).toEqual(
      (golden[0] as Golden).verify.map(({ trajectory_id, entries, head }) => ({
        trajectory_id,
        entries,
        head,
      })),
    );
    expect(await store.selfCheck?.()).toEqual([]);
    await store.close();
  });

  test('its database file of facts opens, and agrees with the entries', async () => {
    const store = await openStore(`sqlite:${copyOf('facts.sqlite')}`);
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
    expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [] });
    expect(await store.selfCheck?.()).toEqual([]);
    const { space, text, embedder, vector } = FACTS;
    expect(await store.spaces()).toEqual([space, expect.stringMatching(/^\{"\$erased":/)]);
    expect(await store.branches()).toEqual([{ space, branch: 'branch' }]);
    const facts = await store.facts({ space });
    const corrected = facts.filter(({ object }) => object === text);
    expect(corrected.some((row) => row.system_time_end !== OPEN_END)).toBe(true);
    expect(facts.some(({ object }) => object.length > 400)).toBe(true);
    expect(JSON.stringify(facts)).not.toContain('aspirin');
    const found = await store.factsByText({ space, text });
    expect(found.map(({ fact }) => fact.fact_id).sort()).toEqual(
      corrected.map((row) => row.fact_id).sort(),
    );
    expect(await store.factsByVector({ space, embedder, vector, limit: 1 })).toMatchObject([
      { score: 1 },
    ]);
    expect(await store.textsToEmbed(embedder, space, 100)).toEqual([]);
    expect((await store.textsToEmbed('another', space, 100)).length).toBeGreaterThan(3);
    await store.close();
  });

  test.each(['store.sqlite', 'facts.sqlite'])(
    'its database file %s has the schema of a new store',
    async (file) => {
      const paths = [copyOf(file), join(folder, `new-${file}`)];
      for (const path of paths) await (await openStore(`sqlite:${path}`)).close();
      const [golden, today] = paths.map((path) => {
        const db = new DatabaseSync(path, { readOnly: true });
        const statements = db
          .prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')
          .all();
        const version = db.prepare('PRAGMA user_version').get();
        db.close();
        return { statements, version };
      });
      expect(golden).toEqual(today);
    },
  );

  /** The domain of the run with its recorded hash. The hash was made of JSON Schemas. */
  async function recordedDomain(store: MemoryStore): Promise<typeof filing> {
    const [root] = await store.entries('desk', { from: 0, limit: 1 });
    const { hash } = (readRow(root!).payload as RootPayload).domain;
    return Object.create(filing, { hash: { value: hash } }) as typeof filing;
  }

  test('a run of when hashes of answers stood in place comes out the same', async () => {
    const store = new MemoryStore();
    const lines = readFileSync(join(V1, 'run.jsonl'), 'utf8').split('\n').slice(0, -1);
    await importLines(
      store,
      (async function* () {
        yield* lines;
      })(),
    );
    const rows = JSON.parse(readFileSync(join(V1, 'run.oracle.json'), 'utf8')) as OracleRow[];
    for (const row of rows) await store.oraclePut(row);
    const nobody = () => {
      throw new Error('it is asked');
    };
    const source = { store, oracleStore: store, trajectoryId: 'desk' };
    const filing = await recordedDomain(store);
    const report = await replayRun(source, filing, [clerk(nobody)], {
      anchors: [operator.publicKey],
    });
    expect(report).toMatchObject({ same: true, turns: 7, takenAsRecorded: 1 });
    expect(await deepReplay(store, 'desk', { domains: [filing], oracle: store })).toMatchObject({
      same: true,
    });
    const [row] = rows.filter(({ answer }) => answer.includes('letter'));
    const other = {
      oracleGet: async (key: string) =>
        key === row?.key ? { ...row, answer: '"x"' } : store.oracleGet(key),
    };
    expect(await deepReplay(store, 'desk', { domains: [filing], oracle: other })).toMatchObject({
      same: false,
    });
  });

  /** The domain as it was declared before rules could be `overridable`. */
  function declaredBefore({ declared }: Domain): Domain {
    const rules = (given: never) =>
      [
        ...(typeof declared.invariants === 'function'
          ? declared.invariants(given)
          : declared.invariants),
      ].map(({ overridable: _, ...rule }) => rule);
    return defineDomain({ ...declared, invariants: rules as never });
  }

  test('its overrides of rejections replay, although none is possible now', async () => {
    const desk = declaredBefore(severalOf(2, 'footprint'));
    const tight = { version: '3', invariants: [atMost(5), asked], state: { note: z.string() } };
    const versions = [{ version: '1' }, { version: '2', state: { note: z.string() } }, tight];
    const counters = versions.map((version) => declaredBefore(counter(version)));
    const store = new MemoryStore();
    for (const file of ['several.jsonl', 'upgrades.jsonl']) {
      const lines = linesOf(file);
      expect(
        lines.some(
          (line) => line.includes('"override":true') && line.includes('"result":"reject"'),
        ),
      ).toBe(true);
      await importLines(store, Readable.from(lines));
    }
    const options = { domains: [desk, ...counters] };
    for (const trajectory of ['apart', 'books', 'branch'])
      expect(await deepReplay(store, trajectory, options), trajectory).toMatchObject({
        same: true,
        preserved: true,
      });
    await expect(
      runtimeOver(store, options.domains).create(desk, {
        initial: { ...desk.initial, n: 11 },
        override: true,
      } as never),
    ).rejects.toMatchObject({
      code: 'invalid_state',
      message: expect.stringContaining('The state violates'),
    });
  });

  test('is all there', () => {
    expect(readdirSync(V1).sort()).toEqual(
      [
        ...[
          'golden.json',
          'honest.jsonl',
          'honest.jsonl.checkpoint',
          'honest.jsonl.vkey',
          'store.sqlite',
        ],
        ...['several.json', 'several.jsonl', 'several.jsonl.checkpoint'],
        ...['beliefs.json', 'beliefs.jsonl', 'beliefs.jsonl.checkpoint'],
        ...['inherited.json', 'inherited.jsonl', 'inherited.jsonl.checkpoint'],
        ...['upgrades.json', 'upgrades.jsonl', 'upgrades.jsonl.checkpoint'],
        ...['run.jsonl', 'run.oracle.json', 'facts.sqlite'],
        // Of packages/gate/src/calls/version-1.test.ts.
        'gateway.sqlite',
      ].sort(),
    );
  });
});
