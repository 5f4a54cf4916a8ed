import { describe, expect, test } from 'vitest';
import { type Flaw, PlainStore } from '../../../tests/support/models/plain-store.ts';
import { EFFECT_LAWS, effectStoreSuite } from './effect-store-suite.ts';
import { LEDGER_LAWS, ledgerStoreSuite } from './ledger-store-suite.ts';
import { ORACLE_LAWS, oracleStoreSuite } from './oracle-store-suite.ts';
import { SIDE_LAWS, sideStoreSuite } from './side-store-suite.ts';
import { SNAPSHOT_LAWS, snapshotStoreSuite } from './snapshot-store-suite.ts';
import type { Bench } from './suite.ts';

let places = 0;
const plain = {
  name: 'plain',
  open: async (place: string) => new PlainStore(`${places}-${place}`),
};
ledgerStoreSuite(plain);
oracleStoreSuite(plain);
snapshotStoreSuite(plain);
sideStoreSuite(plain);
effectStoreSuite(plain);

type Law = () => Promise<void>;

/** The laws over a store with flaws, by title. */
function lawsOver(
  groups: readonly ((bench: Bench<PlainStore>) => void)[],
  flaws: readonly Flaw[],
): Map<string, Law> {
  const laws = new Map<string, Law>();
  const openAt = async (place: string): Promise<PlainStore> => new PlainStore(place, flaws);
  const newPlace = (): string => `flawed-${++places}`;
  const runs = (usual: number): number => usual;
  for (const group of groups) {
    group({
      law: (title, check) => void laws.set(title, check),
      newPlace,
      openAt,
      openNew: () => openAt(newPlace()),
      runs,
    });
  }
  return laws;
}

/** The laws that each flaw breaks. Every law is listed at least once. */
const LEDGER: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'takes any parent': ['an entry goes only after the head it names'],
  'takes any seq': ['an entry goes only after the head it names'],
  'trusts every clock': [
    'a host whose clock is too far ahead writes nothing',
    'a refused clock keeps no batch of other hosts out of a group',
    'a batch that builds on a refused one is a conflict',
  ],
  'takes an id twice': [
    'an id is in the store once, wherever it is',
    'of 50 concurrent appends of one id to 50 trajectories, one is committed',
    'an id appended to 40 trajectories over four handles is committed once',
  ],
  'keeps the rows before a conflict': [
    'a batch is written whole or not at all',
    'a batch over several trajectories is refused whole if one head has moved',
  ],
  'keeps the blobs of a conflict': [
    'a batch is written whole or not at all',
    'two handles’ racing batches over two trajectories are whole or absent',
    'a store opened again has exactly the queued batches that close committed',
  ],
  'judges what waits by what is written': [
    'of 100 that append to one head, one is committed and 99 are conflicts',
    'a batch may build on one that still waits',
    'when a waiting batch fails, those that build on it are conflicts',
  ],
  'lets a conflict take its neighbours with it': [
    'an id is in the store once, wherever it is',
    'when a queued batch fails for its id, batches that build on it conflict',
    'any interleaving of batches gives the result of a plain model',
  ],
  'says again what it said before': [
    'a batch that comes again is a conflict, and is there once',
    'an unknown commit is settled by resolve on a reopened store',
  ],
  'moves the head for nothing': ['an empty batch changes nothing'],
  'keeps trajectories of a batch apart': ['a batch may go back and forth between trajectories'],
  'normalises names': ['texts that look alike are kept apart', 'rows come back exactly as given'],
  'trims names': ['texts that look alike are kept apart', 'rows come back exactly as given'],
  'cuts names': ['a trajectory may have a name of 500 characters'],
  'reads JSON': ['JSON text is kept and not read'],
  'cuts texts at 64 KiB': ['a payload of 1 MiB and a blob of 3 MB come back exactly as given'],
  'keeps the caller’s objects': [
    'a later mutation of passed or returned rows changes no stored row',
  ],
  overwrites: ['a blob is stored once and stays as it was first'],
  'can’t have a blob twice': ['concurrent batches with one blob are all committed'],
  'lists by name': ['trajectories are listed in order of creation'],
  'has no page': ['entries come in pages, in order'],
  'finds anything that has it': ['an entry is found by the beginning of its id'],
  'finds all': ['of many that share a prefix, two are enough to say so'],
  'shows what waits': ['reads see committed rows and nothing else'],
  'takes anything': ['a value that no row can hold is refused, and nothing is written'],
  'empties the queue at a refusal': [
    'a refused batch does not disturb batches that are queued with it',
  ],
  'forgets what waits when it closes': [
    'a store opened again has exactly the queued batches that close committed',
  ],
  'answers nothing more when it closes': [
    'close waits for queued batches, and may be called twice',
  ],
  'goes on when it is closed': ['a closed store refuses every call'],
  forgets: [
    'a store opened again knows which blobs were erased',
    'a store opened again has all that was committed',
    'a store reopened between batches gives the result of a plain model',
    'an unknown commit is settled by resolve on a reopened store',
  ],
  'knows only its own heads': [
    'two handles on one place see and stop each other',
    'two handles that race leave one chain',
    'of 100 appends to one head over four handles one commits, 99 conflict',
  ],
  'shows what was erased': ['an erased blob is gone, and the entry that erased it is named'],
  'takes in again what was erased': ['a blob that was erased is never taken in again'],
  'remembers the last eraser': ['the first to erase a blob is named'],
  'erases for a conflict': ['a conflict erases nothing'],
  'closes the place': ['a handle that is closed leaves the others as they are'],
  'is never empty': ['an empty store has nothing'],
  'gives turns to all': [
    'a turn is one handle’s until it ends it, and then another’s',
    'a timed-out wait gets no write lock; a wait after the release gets it',
    'concurrent requests over two handles all get the write lock, one by one',
  ],
  'keeps turns of who has closed': [
    'a write lock ends with its handle, and close does not wait for a release',
  ],
  'ends whoever’s turn it is': [
    'appends ignore the write lock, and a repeated release ends no other lock',
  ],
};

const ORACLE: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['an empty store has no answer'],
  overwrites: [
    'the first answer of the oracle stays',
    'a store opened again has the first answers',
  ],
  'writes each answer': [
    '50 concurrent answers to one question all get the same answer',
    'two handles that answer one question concurrently get the same answer',
  ],
  'reads JSON': ['answers come back exactly as given'],
  'keeps the caller’s objects': [
    'a later mutation of a passed or returned row changes no stored row',
  ],
  'takes anything': ['a value that no row can hold is refused, and nothing is written'],
  'mixes up questions': ['each of 100 concurrent questions gets its own answer'],
  'forgets what waits when it closes': [
    'a store opened again has the answers that close still recorded',
  ],
  'answers nothing more when it closes': ['close waits for the answers that are queued'],
  'goes on when it is closed': ['a closed store refuses questions and answers'],
  forgets: [
    'a store opened again has the first answers',
    'a store opened again knows which answers were erased',
  ],
  'shows what was erased': [
    'an erased answer is gone, and the entry that erased it is named',
    'an answer is erased with blobs and entries of its batch',
    'an erased answer is no longer listed, also in a store opened again',
  ],
  'takes in again what was erased': ['an answer that was erased is never taken in again'],
  'has no page': [
    'answers are listed by the `within` key they were put with, in pages',
    'answers that were erased are listed by themselves, in pages',
  ],
  'finds all': [
    'answers are listed by the `within` key they were put with, in pages',
    'answers that were erased are listed by themselves, in pages',
  ],
  'remembers the last eraser': ['the first to erase an answer is named'],
  'erases for a conflict': ['a conflict erases no answer'],
};

const SNAPSHOT: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['a trajectory has no snapshot before one is put'],
  'keeps the newest snapshot': ['the snapshot that was put last is there, one for each trajectory'],
  'keeps a snapshot from before an erasure': [
    'a snapshot with a fold that started before an erasure is not stored',
  ],
  'keeps snapshots through an erasure': ['an erasure takes all snapshots with it'],
  'keeps a snapshot of nothing': ['a snapshot of a trajectory that is not there is not kept'],
  'drops one snapshot': [
    'dropping all snapshots leaves none, and changes no entry and no blob',
    'two handles on one place have the same snapshots',
  ],
  'drops everything': ['dropping all snapshots leaves none, and changes no entry and no blob'],
  'cuts texts at 64 KiB': ['snapshots come back exactly as given'],
  'reads JSON': ['snapshots come back exactly as given'],
  'trims names': ['snapshots come back exactly as given'],
  'keeps the caller’s objects': [
    'a later mutation of a passed or returned snapshot changes no stored one',
  ],
  'takes anything': ['a snapshot that no row can hold is refused, and nothing is written'],
  'forgets what waits when it closes': [
    'a store opened again has the snapshots, and those that close still took',
  ],
  forgets: ['a store opened again has the snapshots, and those that close still took'],
  'goes on when it is closed': ['a closed store refuses snapshots'],
};

const SIDE: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['an empty store has no side rows'],
  'has no page': ['side rows of one kind are listed by key in code-point order, in pages'],
  'cuts names': ['side rows come back exactly as given'],
  'trims names': ['side rows come back exactly as given'],
  'keeps the caller’s objects': [
    'a later mutation of a passed or returned side row changes no stored one',
  ],
  'takes anything': ['side rows that no row can hold are refused, and nothing is written'],
  overwrites: [
    'a put writes only over the expected version',
    'any puts give the result of a plain model',
    'of concurrent puts that expect one version, one is written',
    'of two handles that count with compare-and-set, no count is lost',
  ],
  'counts versions by row': ['versions rise with each write, also after a deletion'],
  'keeps the rows before a refusal': [
    'a put of several rows writes all of them or none',
    'a put can require that a row is absent, and writes nothing to it',
    'any puts give the result of a plain model',
  ],
  forgets: [
    'a store opened again has the side rows, and those that close still wrote',
    'of two handles that count with compare-and-set, no count is lost',
    'two handles that move rows in opposite orders end, and lose no row',
  ],
  'forgets what waits when it closes': [
    'a store opened again has the side rows, and those that close still wrote',
  ],
  'goes on when it is closed': ['a closed store refuses side rows'],
};

const EFFECTS: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['an empty store has no effects'],
  'forgets transactions that have ended': [
    'a transaction is open until it is ended, and can be read for ever',
  ],
  'has no page': [
    'open or ended transactions are paged, highest epoch first, by trajectory',
    'those that are open are given by epoch, in pages and by trajectory',
  ],
  'opens again what has ended': ['a repeated write changes nothing, also after later writes'],
  'sorts numbers as texts': [
    'records are added in their places, also by writes that wait together',
  ],
  'reads JSON': ['texts of effects come back exactly as given'],
  'cuts texts at 64 KiB': ['texts of effects come back exactly as given'],
  'keeps the caller’s objects': [
    'a later mutation of passed or returned effects changes no stored effect',
  ],
  forgets: [
    'a store opened again has the effects, and those that close still took',
    'handles that alternate leases give the result of a plain effect model',
  ],
  'forgets what waits when it closes': [
    'a store opened again has the effects, and those that close still took',
  ],
  'knows only its own effects': [
    'two handles on one place have the same effects',
    'handles that alternate leases give the result of a plain effect model',
    'a handle hears that it is fenced, though it knew of the effects',
  ],
  'goes on when it is closed': ['a closed store refuses effects'],
  'lets go of keys': ['a key stands for one effect for ever'],
  'gives a key to all': [
    'a key stands for one effect for ever',
    'of concurrent writes with one key, one has it',
    'a batch with refused effects writes no entry and no blob',
  ],
  'keeps the rows before a refusal': [
    'a write that is refused leaves nothing behind',
    'a write that does not fit into the effect log is refused as misuse',
    'any interleaving of effect writes gives the result of a plain model',
  ],
  'takes any place': [
    'a write that does not fit into the effect log is refused as misuse',
    'any interleaving of effect writes gives the result of a plain model',
  ],
  'lets a refusal take its neighbours with it': [
    'a refused write does not disturb effects that are queued with it',
  ],
  'takes anything': ['effects that no row can hold are refused, and nothing is written'],
  'leaves out the effects of a batch': [
    'effects are written with their batch',
    'a queued batch may build on effects and entries queued before it',
    'any interleaving of effect writes gives the result of a plain model',
  ],
  'keeps the effects of a conflict': ['a batch that is a conflict writes nothing of its effects'],
  'writes a batch whose effects are refused': [
    'a batch with refused effects writes no entry and no blob',
  ],
  'gives tenures to all': [
    'a lease lasts until its release; then the same handle may get the next',
    'a tenure is one handle’s at a time, and ends with its handle',
    'of many lease requests over two handles each is granted, one at a time',
  ],
  'knows only the epochs that are open': ['each tenure knows the last epoch'],
  'has no fence': [
    'writes under a lease are fenced once another lease was granted',
    'a handle hears that it is fenced, though it knew of the effects',
  ],
  'waits on for who has given up': [
    'a wait for a lease can be cancelled without disturbing other waiters',
  ],
  'leaves those who wait when it closes': ['close ends every wait for a tenure'],
  'keeps the tenure of who has closed': [
    'a tenure is one handle’s at a time, and ends with its handle',
  ],
};

for (const [port, groups, broken] of [
  ['ledger', LEDGER_LAWS, LEDGER],
  ['oracle', ORACLE_LAWS, ORACLE],
  ['snapshot', SNAPSHOT_LAWS, SNAPSHOT],
  ['side', SIDE_LAWS, SIDE],
  ['effect', EFFECT_LAWS, EFFECTS],
] as const) {
  describe(`the ${port} laws find a store that`, () => {
    for (const [flaw, titles] of Object.entries(broken)) {
      test.each(titles)(`${flaw}: %s`, async (title) => {
        const law = lawsOver(groups as never, [flaw as Flaw]).get(title);
        // A law that waits forever on such a store has detected the flaw too.
        await expect(withinTurns(law!())).rejects.toThrow();
      });
    }

    test('and each of them finds one', () => {
      const titles = [...lawsOver(groups as never, []).keys()];
      expect([...new Set(Object.values(broken).flat())].sort()).toEqual(titles.sort());
    });
  });
}

/** Longer than any law sleeps. */
const PATIENCE_MS = 1_000;

/** Throws after more turns of the event loop, and more time, than any store in memory needs. */
async function withinTurns(law: Promise<void>): Promise<void> {
  let done = false;
  const settled = law.finally(() => {
    done = true;
  });
  const patience = (async () => {
    const until = performance.now() + PATIENCE_MS;
    for (let turn = 0; (turn < 20_000 || performance.now() < until) && !done; turn += 1)
      await new Promise(setImmediate);
    if (!done) throw new Error('it waits for ever');
  })();
  await Promise.race([settled, patience]);
  await settled;
}

test('a skip that no law has is an error', () => {
  const skip = [{ test: 'no such law', reason: 'none' }];
  expect(() => ledgerStoreSuite({ ...plain, skip })).toThrow();
});
