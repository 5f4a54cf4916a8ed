import { describe, expect, test } from 'vitest';
import { type Flaw, PlainStore } from '../../tests/support/plain-store.ts';
import { EFFECT_LAWS, effectStoreSuite } from './effect-store-suite.ts';
import { LEDGER_LAWS, ledgerStoreSuite } from './ledger-store-suite.ts';
import { ORACLE_LAWS, oracleStoreSuite } from './oracle-store-suite.ts';
import { SNAPSHOT_LAWS, snapshotStoreSuite } from './snapshot-store-suite.ts';
import type { Bench } from './suite.ts';

let places = 0;
const plain = { name: 'plain', open: async (place: string) => new PlainStore(`${places}-${place}`) };
ledgerStoreSuite(plain);
oracleStoreSuite(plain);
snapshotStoreSuite(plain);
effectStoreSuite(plain);

type Law = () => Promise<void>;

/** The laws over a store with flaws, by title. */
function lawsOver(groups: readonly ((bench: Bench<PlainStore>) => void)[], flaws: readonly Flaw[]): Map<string, Law> {
  const laws = new Map<string, Law>();
  const openAt = async (place: string): Promise<PlainStore> => new PlainStore(place, flaws);
  const newPlace = (): string => `flawed-${++places}`;
  for (const group of groups) {
    group({ law: (title, check) => void laws.set(title, check), newPlace, openAt, openNew: () => openAt(newPlace()) });
  }
  return laws;
}

/** The laws that each flaw breaks. Every law is listed at least once. */
const LEDGER: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'takes any parent': ['an entry goes only after the head it names'],
  'takes any seq': ['an entry goes only after the head it names'],
  'takes an id twice': [
    'an id is in the store once, wherever it is',
    'of 50 that bring one id to 50 trajectories at once, one is committed',
    'of 40 that bring one id through four handles to 40 trajectories, one is committed',
  ],
  'keeps the rows before a conflict': [
    'a batch is written whole or not at all',
    'a batch over several trajectories is refused whole when one of them has moved',
  ],
  'keeps the blobs of a conflict': [
    'a batch is written whole or not at all',
    'a batch over two trajectories that races for both through two handles is there whole or not at all',
    'what close still answered is there when the store is opened again, and nothing else',
  ],
  'judges what waits by what is written': [
    'of 100 that append to one head, one is committed and 99 are conflicts',
    'a batch may build on one that still waits',
    'when a waiting batch fails, those that build on it are conflicts',
  ],
  'lets a conflict take its neighbours with it': [
    'an id is in the store once, wherever it is',
    'when a waiting batch fails for its id, those that build on it are conflicts',
    'any interleaving of batches gives what a plain model gives',
  ],
  'says again what it said before': [
    'a batch that comes again is a conflict, and is there once',
    'an unknown commit is settled by resolve on a store opened anew',
  ],
  'moves the head for nothing': ['an empty batch changes nothing'],
  'keeps trajectories of a batch apart': ['a batch may go back and forth between trajectories'],
  'normalises names': ['texts that look alike are kept apart', 'rows come back exactly as given'],
  'trims names': ['texts that look alike are kept apart', 'rows come back exactly as given'],
  'cuts names': ['a trajectory may have a name of 500 characters'],
  'reads JSON': ['JSON text is kept and not read'],
  'cuts texts at 64 KiB': ['a payload of 1 MiB and a blob of 3 MB come back exactly as given'],
  'keeps the caller’s objects': ['what a caller does later with rows that it gave or got changes nothing in the store'],
  overwrites: ['a blob is stored once and stays as it was first'],
  'can’t have a blob twice': ['of many that bring one blob at once, all are committed'],
  'lists by name': ['trajectories are listed in order of creation'],
  'has no page': ['entries come in pages, in order'],
  'finds anything that has it': ['an entry is found by the beginning of its id'],
  'finds all': ['of many that share a prefix, two are enough to say so'],
  'shows what waits': ['reads see what is committed and nothing else'],
  'takes anything': ['what no row can hold is refused, and nothing is written'],
  'empties the queue at a refusal': ['what is refused disturbs no one who waits beside it'],
  'forgets what waits when it closes': [
    'what close still answered is there when the store is opened again, and nothing else',
  ],
  'answers nothing more when it closes': ['close waits for what is queued, and may be called twice'],
  'goes on when it is closed': ['a closed store refuses every call'],
  forgets: [
    'a store opened again knows what was erased',
    'a store opened again has all that was committed',
    'a store that is closed and opened between batches gives what a plain model gives',
    'an unknown commit is settled by resolve on a store opened anew',
  ],
  'knows only its own heads': [
    'two handles on one place see and stop each other',
    'two handles that race leave one chain',
    'of 100 that append to one head through four handles, one is committed and 99 are conflicts',
  ],
  'shows what was erased': ['an erased blob is gone, and the entry that erased it is named'],
  'takes in again what was erased': ['a blob that was erased is never taken in again'],
  'remembers the last eraser': ['the first to erase a blob is named'],
  'erases for a conflict': ['a conflict erases nothing'],
  'closes the place': ['a handle that is closed leaves the others as they are'],
  'is never empty': ['an empty store has nothing'],
  'gives turns to all': [
    'a turn is one handle’s until it ends it, and then another’s',
    'who waits for too long goes on without, and in the end it is given again',
    'of many that ask at once through two handles, no two have it at once, and all have it',
  ],
  'keeps turns of who has closed': ['a turn ends with its handle, and close waits for nobody to end it'],
  'ends whoever’s turn it is': [
    'whoever’s turn it is, appends are decided as ever, and an end that is called twice ends one turn',
  ],
};

const ORACLE: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['an empty store has no answer'],
  overwrites: ['the first answer of the oracle stays', 'a store opened again has the first answers'],
  'writes each answer': [
    'of 50 that answer one question at once, all get the same answer',
    'of two handles that answer one question at once, both get the same answer',
  ],
  'reads JSON': ['answers come back exactly as given'],
  'keeps the caller’s objects': [
    'what a caller does later with a row that it gave or got changes nothing in the store',
  ],
  'takes anything': ['what no row can hold is refused, and nothing is written'],
  'mixes up questions': ['of 100 questions at once each gets its own answer'],
  'forgets what waits when it closes': ['what close still recorded is there when the store is opened again'],
  'answers nothing more when it closes': ['close waits for the answers that are queued'],
  'goes on when it is closed': ['a closed store refuses questions and answers'],
  forgets: ['a store opened again has the first answers', 'a store opened again knows which answers were erased'],
  'shows what was erased': [
    'an erased answer is gone, and the entry that erased it is named',
    'an answer is erased with blobs and entries of its batch',
    'an answer that was erased is listed no more, also in a store opened again',
  ],
  'takes in again what was erased': ['an answer that was erased is never taken in again'],
  'has no page': [
    'answers are listed by what they were put with, in pages',
    'answers that were erased are listed by themselves, in pages',
  ],
  'finds all': [
    'answers are listed by what they were put with, in pages',
    'answers that were erased are listed by themselves, in pages',
  ],
  'remembers the last eraser': ['the first to erase an answer is named'],
  'erases for a conflict': ['a conflict erases no answer'],
};

const SNAPSHOT: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['a trajectory has no snapshot before one is put'],
  'keeps the newest snapshot': ['the snapshot that was put last is there, one for each trajectory'],
  'keeps a snapshot from before an erasure': ['a snapshot whose fold began before an erasure is not kept'],
  'keeps snapshots through an erasure': ['an erasure takes all snapshots with it'],
  'keeps a snapshot of nothing': ['a snapshot of a trajectory that is not there is not kept'],
  'drops one snapshot': [
    'after all are dropped there are none, and entries and blobs are as they were',
    'two handles on one place have the same snapshots',
  ],
  'drops everything': ['after all are dropped there are none, and entries and blobs are as they were'],
  'cuts texts at 64 KiB': ['snapshots come back exactly as given'],
  'reads JSON': ['snapshots come back exactly as given'],
  'trims names': ['snapshots come back exactly as given'],
  'keeps the caller’s objects': [
    'what a caller does later with a snapshot that it gave or got changes nothing in the store',
  ],
  'takes anything': ['what no snapshot can hold is refused, and nothing is written'],
  'forgets what waits when it closes': ['a store opened again has the snapshots, and those that close still took'],
  forgets: ['a store opened again has the snapshots, and those that close still took'],
  'goes on when it is closed': ['a closed store refuses snapshots'],
};

const EFFECTS: Readonly<Partial<Record<Flaw, readonly string[]>>> = {
  'is never empty': ['an empty store has no effects'],
  'forgets transactions that have ended': ['a transaction is open until it is ended, and can be read for ever'],
  'has no page': [
    'transactions are listed from the youngest on, those that have ended too, in pages and by trajectory',
    'those that are open are given by epoch, in pages and by trajectory',
  ],
  'opens again what has ended': ['a write that comes again changes nothing, whatever came after it'],
  'sorts numbers as texts': ['records are added in their places, also by writes that wait together'],
  'reads JSON': ['texts of effects come back exactly as given'],
  'cuts texts at 64 KiB': ['texts of effects come back exactly as given'],
  'keeps the caller’s objects': [
    'what a caller does later with effects that it gave or got changes nothing in the store',
  ],
  forgets: [
    'a store opened again has the effects, and those that close still took',
    'handles that take over from each other give what a plain model of effects gives',
  ],
  'forgets what waits when it closes': ['a store opened again has the effects, and those that close still took'],
  'knows only its own effects': [
    'two handles on one place have the same effects',
    'handles that take over from each other give what a plain model of effects gives',
    'a handle hears that it is fenced, though it knew of the effects',
  ],
  'goes on when it is closed': ['a closed store refuses effects'],
  'lets go of keys': ['a key stands for one effect for ever'],
  'gives a key to all': [
    'a key stands for one effect for ever',
    'of many that bring one key at once, one has it',
    'a batch whose effects are refused writes no entry and no blob',
  ],
  'keeps the rows before a refusal': [
    'a write that is refused leaves nothing behind',
    'what does not fit into the log is refused as misuse',
    'any interleaving of writes gives what a plain model of effects gives',
  ],
  'takes any place': [
    'what does not fit into the log is refused as misuse',
    'any interleaving of writes gives what a plain model of effects gives',
  ],
  'lets a refusal take its neighbours with it': ['what is refused disturbs no effects that wait beside it'],
  'takes anything': ['what no row of effects can hold is refused, and nothing is written'],
  'leaves out the effects of a batch': [
    'effects are written with their batch',
    'a batch that waits may build on effects and entries of one that waits before it',
    'any interleaving of writes gives what a plain model of effects gives',
  ],
  'keeps the effects of a conflict': ['a batch that is a conflict writes nothing of its effects'],
  'writes a batch whose effects are refused': ['a batch whose effects are refused writes no entry and no blob'],
  'gives tenures to all': [
    'a tenure is had until it is released, and then another is given, also on the same handle',
    'a tenure is one handle’s at a time, and ends with its handle',
    'of many that ask for a tenure through two handles, no two have it at once, and all have it',
  ],
  'knows only the epochs that are open': ['each tenure knows the last epoch'],
  'has no fence': [
    'what is written under a tenure is fenced once another was given',
    'a handle hears that it is fenced, though it knew of the effects',
  ],
  'waits on for who has given up': ['who waits for a tenure can give up, and nobody else is disturbed'],
  'leaves those who wait when it closes': ['close ends every wait for a tenure'],
  'keeps the tenure of who has closed': ['a tenure is one handle’s at a time, and ends with its handle'],
};

for (const [port, groups, broken] of [
  ['ledger', LEDGER_LAWS, LEDGER],
  ['oracle', ORACLE_LAWS, ORACLE],
  ['snapshot', SNAPSHOT_LAWS, SNAPSHOT],
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
