import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { fsck } from '#checkpoints';
import { exportLines, importLines } from '#export';
import { type FactStore, integrateLog, type LedgerStore } from '#ledger';
import { checkMemory, rebuildMemory, verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { faultyStore } from '../../packages/testing/src/faulty-store.ts';
import { clinic } from '../support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';

// Imported facts are visible after the import has derived facts from all of its entries. If the
// import ends at any point, a reader gets the error for incomplete facts, or the facts of the
// ledger.

/** More entries than one group of an import has. */
const FACTS = 510;
const writ = writFor('nurse');

type Facts = Store & LedgerStore & FactStore;

/** As many facts of one space, each of an entry of its own. */
async function believe(store: Store, space: string, facts: number): Promise<void> {
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId: space,
    writs: [writ],
  });
  const memory = trajectory.memory({ space, writ });
  for (let n = 0; n < facts; n++)
    await memory.assert({ subject: `p${n}`, predicate: 'drug', object: 'x' });
  await integrateLog(store);
}

async function exported(space: string, facts: number): Promise<string[]> {
  const store = await openStore('memory:');
  await believe(store, space, facts);
  const lines = await all(exportLines(store));
  await store.close();
  return lines;
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield line.replace(/\n$/, '');
}

/** The steps of `assize import`. */
async function imported(store: Facts, lines: readonly string[]): Promise<void> {
  await importLines(store, given(lines), { awaitsFacts: true });
  await verifyStore(store);
  await rebuildMemory(store, { keep: true });
}

/**
 * The answer to readers of the store: the error for incomplete facts, or the number of imported
 * facts: all that the ledger records.
 */
async function told(place: Place, space: string): Promise<'incomplete' | number> {
  const store = (await place.open()) as Facts;
  try {
    const found = (await store.facts({ space, limit: 2 * FACTS })).length;
    expect((await checkMemory(store)).valid).toBe(true);
    return found;
  } catch (error) {
    if (!isAssizeError(error, 'store_facts_incomplete')) throw error;
    const mine = runtimeOver(store, [clinic]).open('mine');
    await expect((await mine).memory({ space: 'mine', writ }).recall({})).rejects.toMatchObject({
      code: 'store_facts_incomplete',
    });
    return 'incomplete';
  } finally {
    await store.close();
  }
}

const WRITES: ReadonlySet<string> = new Set(['commit', 'rebuildFacts', 'keepFacts', 'scrub']);

onEveryDatabase(({ newPlace }) => {
  test.each([true, false])(
    'a store that dies in an import gives no partial answers; write sent: %s',
    async (sent) => {
      const lines = await exported('away', FACTS);
      const ways: string[] = [];
      for (let n = 1, isWhole = false; !isWhole; n++) {
        const place = newPlace();
        const store = (await place.open()) as Facts;
        await believe(store, 'mine', 2);
        let writes = 0;
        const dying = faultyStore(store, ({ operation }) => {
          if (!WRITES.has(operation) || ++writes !== n) return undefined;
          ways.push(operation);
          return { kind: 'torn', sent };
        });
        const [done] = await Promise.allSettled([imported(dying, lines)]);
        isWhole = done.status === 'fulfilled';
        await dying.close();
        // Nothing of it is there yet, or all is.
        expect(['incomplete', 0, FACTS]).toContain(await told(place, 'away'));
        const again = (await place.open()) as Facts;
        await imported(again, lines);
        expect(await fsck(again)).toMatchObject({ valid: true, faults: [] });
        expect([await told(place, 'away'), await told(place, 'mine')]).toEqual([FACTS, 2]);
      }
      expect(ways).toEqual(['commit', 'commit', 'scrub', 'rebuildFacts']);
    },
  );

  test('nor where it ends while facts are made', async () => {
    const place = newPlace();
    await believe((await place.open()) as Store, 'mine', 2);
    const lines = await exported('away', FACTS);
    for (const pages of [0, 1, 3]) {
      const store = (await place.open()) as Facts;
      const ending = new Proxy(store, {
        get: (_, name) =>
          name === 'rebuildFacts'
            ? (given: AsyncIterable<never>) => store.rebuildFacts(cut(given, pages))
            : bound(store, name),
      });
      await expect(imported(ending, lines)).rejects.toThrow('unplugged');
      await store.close();
      expect(await told(place, 'away')).toBe('incomplete');
    }
    await imported((await place.open()) as Facts, lines);
    expect([await told(place, 'away'), await told(place, 'mine')]).toEqual([FACTS, 2]);
  });

  test('nor does kill -9 of the command, before a repeat or a rebuild of facts', async () => {
    const place = newPlace();
    const reader = (await place.open()) as Facts;
    await believe(reader, 'mine', 2);
    const memory = (await runtimeOver(reader, [clinic]).open('mine')).memory({
      space: 'mine',
      writ,
    });
    const more = { subject: 'more', predicate: 'drug', object: 'x' };
    let mine = 2;
    for (const space of ['away', 'far']) {
      const lines = await exported(space, FACTS);
      // The option writes while it reads; otherwise the command first verifies the whole export.
      const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
      const child = spawn(process.execPath, [main, 'import', '--keep-invalid'], {
        env: { ...process.env, ASSIZE_STORE: place.url },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      const ended = once(child, 'exit');
      // It waits for the rest.
      child.stdin.write(lines.slice(0, -2).join(''));
      while ((await reader.head(space)) === undefined && child.exitCode === null) await sleep(10);
      child.kill('SIGKILL');
      expect((await ended)[1]).toBe('SIGKILL');
      expect(await told(place, space)).toBe('incomplete');
      // An earlier reader gets the same error, and asserts nothing on incomplete facts.
      for (const asked of [() => memory.recall({}), () => memory.assert(more)])
        await expect(asked()).rejects.toMatchObject({ code: 'store_facts_incomplete' });
      if (space === 'away') await imported(reader, lines);
      else await rebuildMemory(reader);
      expect(await told(place, space)).toBeGreaterThan(400);
      await memory.assert({ ...more, subject: `more since ${space}` });
      mine += 1;
      expect(await told(place, 'mine')).toBe(mine);
    }
  });

  test('if facts of an import cannot be rebuilt, the earlier facts can be kept', async () => {
    const place = newPlace();
    const store = (await place.open()) as Facts;
    await believe(store, 'mine', 2);
    const other = await openStore('memory:');
    const elsewhere = await runtimeOver(other, [clinic]).create(clinic, {
      trajectoryId: 'other',
      writs: [writ],
    });
    await elsewhere
      .memory({ space: 'mine', writ })
      .assert({ subject: 'p0', predicate: 'drug', object: 'y' });
    await integrateLog(other);
    const lines = await all(exportLines(other));
    await other.close();
    await importLines(store, given(lines), { awaitsFacts: true });
    await expect(rebuildMemory(store)).rejects.toMatchObject({ code: 'invalid_ledger' });
    await expect(store.spaces()).rejects.toMatchObject({ code: 'store_facts_incomplete' });
    await expect(rebuildMemory(store, { keep: true })).rejects.toMatchObject({
      code: 'invalid_ledger',
    });
    const reader = (await place.open()) as Facts;
    expect((await reader.facts({ space: 'mine' })).map(({ object }) => object)).toEqual(['x', 'x']);
    const trajectory = await runtimeOver(reader, [clinic]).open('mine');
    await trajectory
      .memory({ space: 'mine', writ })
      .assert({ subject: 'p2', predicate: 'drug', object: 'x' });
    expect(await store.facts({ space: 'mine' })).toHaveLength(3);
  });
});

function bound(store: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(store, name);
  return typeof member === 'function' ? member.bind(store) : member;
}

async function* cut(pages: AsyncIterable<never>, length: number): AsyncGenerator<never> {
  let taken = 0;
  for await (const page of pages) {
    if (taken++ === length) break;
    yield page;
  }
  throw new Error('unplugged');
}
