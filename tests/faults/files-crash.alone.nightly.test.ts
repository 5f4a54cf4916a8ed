import { rmSync } from 'node:fs';
import { MemoryStore } from '@assize/testing/memory';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Delivery } from '#effects';
import type { UnresolvedEffect } from '#runtime';
import { fileScope, fileTools } from '#tools/files';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { Steps, storeOf, tally } from '../support/tools/effect-sink.ts';
import { diskOf, type Listing, listing, newFolder, put } from '../support/tools/files-stage.ts';

// A crash at every step of a transaction that changes files, also in the middle of a write, and at
// every step of its recovery. The test reads the outcome of the files from the disk.

// The steps between crashes are calls of the tools' `Disk`, each awaited separately. Nothing
// depends on how long a call takes.
vi.mock('node:fs/promises', async () => (await import('./prompt-files.ts')).promptFiles);

type Assize = ReturnType<typeof runtimeOver>;

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

const OLD = { 'a.txt': '600 old a', 'c.txt': '640 old c', 'd.txt': '644 old d' };
const NEW = {
  'a.txt': '600 new a',
  'sub/': '',
  'sub/b.txt': '644 new b',
  'sub/deep/': '',
  'sub/deep/d.txt': '644 old d',
};

const CHAINED = { 'a.txt': '600 old a', 'c.txt': '644 again' };

class World {
  readonly store = new MemoryStore();
  readonly root = newFolder();
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
    made.push(this.root);
    put(this.root, 'a.txt', 'old a', 0o600);
    put(this.root, 'c.txt', 'old c', 0o640);
    put(this.root, 'd.txt', 'old d');
  }

  /** One process, from its beginning to its end. */
  async process<T>(endAt: number | undefined, live: (assize: Assize) => Promise<T>) {
    const steps = new Steps(endAt);
    const tools = fileTools({
      root: this.root,
      delivery: this.#delivery,
      disk: (disk) => diskOf(disk, steps),
    });
    const assize = runtimeOver(storeOf(this.store, steps), [tally], { tools });
    const value = await Promise.race([live(assize), steps.ended.then(() => undefined)]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    return { value, isDead: steps.isDead };
  }

  async begin(): Promise<void> {
    await runtimeOver(this.store, [tally]).create(tally, { trajectoryId: 't' });
  }

  async transact(assize: Assize, args = 'order'): Promise<void> {
    const trajectory = await assize.open('t');
    const writes = [fileScope(this.root, '.', true)];
    await trajectory.transaction({ writ: writFor('alice'), writes, retries: 0 }, async (tx) => {
      await tx.call('files.write', { path: 'a.txt', content: 'new a' });
      await tx.call('files.write', { path: 'sub/b.txt', content: 'new b' });
      await tx.call('files.delete', { path: 'c.txt' });
      await tx.call('files.move', { from: 'd.txt', to: 'sub/deep/d.txt' });
      tx.propose({ action: 'count', role: 'counter', args });
    });
  }

  /** The same files more than once: each call finds what the one before has left. */
  async chain(assize: Assize, args = 'order'): Promise<void> {
    const trajectory = await assize.open('t');
    const writes = [fileScope(this.root, '.', true)];
    await trajectory.transaction({ writ: writFor('alice'), writes, retries: 0 }, async (tx) => {
      await tx.call('files.delete', { path: 'c.txt' });
      await tx.call('files.write', { path: 'c.txt', content: 'again' });
      await tx.call('files.move', { from: 'a.txt', to: 'b.txt' });
      await tx.call('files.move', { from: 'b.txt', to: 'a.txt' });
      await tx.call('files.move', { from: 'd.txt', to: 'e.txt' });
      await tx.call('files.delete', { path: 'e.txt' });
      tx.propose({ action: 'count', role: 'counter', args });
    });
  }

  async check(left: readonly UnresolvedEffect[], then: Listing = NEW): Promise<'old' | 'new'> {
    const committed = (await this.store.entries('t')).some(({ kind }) => kind === 'commit');
    expect(left).toEqual([]);
    expect(listing(this.root)).toEqual(committed ? then : OLD);
    return committed ? 'new' : 'old';
  }
}

async function recovered(world: World): Promise<readonly UnresolvedEffect[]> {
  const { value } = await world.process(undefined, (assize) => assize.recoverEffects());
  return value as readonly UnresolvedEffect[];
}

describe.each(['buffered', 'externalised'] as const)('files that are changed %s', (delivery) => {
  test('a crash at any step leaves all of it or nothing', async () => {
    const outcomes = { old: 0, new: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = new World(delivery);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.transact(assize));
      outcomes[await world.check(await recovered(world))]++;
      if (!isDead) break;
    }
    expect(outcomes.old).toBeGreaterThan(0);
    expect(outcomes.new).toBeGreaterThan(0);
  });

  test('so it does if the effects are reverted because the commit is refused', async () => {
    for (let endAt = 1; ; endAt++) {
      const world = new World(delivery);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) =>
        world.transact(assize, 'forbidden'),
      );
      expect(await world.check(await recovered(world))).toBe('old');
      if (!isDead) break;
    }
  });

  test.each(['order', 'forbidden'])(
    'and if each call reads the result of the call before: %s',
    async (args) => {
      const outcomes = new Set<string>();
      // One in five of the steps: no call has so few.
      for (let endAt = 1; ; endAt += 5) {
        const world = new World(delivery);
        await world.begin();
        const { isDead } = await world.process(endAt, (assize) => world.chain(assize, args));
        // The recovering process can crash, too, and leave some work for the next one.
        await world.process(1 + ((endAt * 7) % 61), (assize) => assize.recoverEffects());
        outcomes.add(await world.check(await recovered(world), CHAINED));
        rmSync(made.pop()!, { recursive: true });
        if (!isDead) break;
      }
      expect([...outcomes].sort()).toEqual(args === 'order' ? ['new', 'old'] : ['old']);
    },
  );

  test('and so does another crash at any step of the recovery', async () => {
    let twice = 0;
    // Every step of the recovery, after one in 47 of the steps of the first life: repeated steps
    // have another period.
    for (let endAt = 1; ; endAt += 47) {
      let wasDead = false;
      for (let again = 1; ; again++) {
        const world = new World(delivery);
        await world.begin();
        ({ isDead: wasDead } = await world.process(endAt, (assize) => world.transact(assize)));
        if (!wasDead) break;
        const { isDead } = await world.process(again, (assize) => assize.recoverEffects());
        await world.check(await recovered(world));
        rmSync(made.pop()!, { recursive: true });
        if (!isDead) break;
        twice++;
      }
      if (!wasDead) break;
    }
    expect(twice).toBeGreaterThan(10);
  });
});
