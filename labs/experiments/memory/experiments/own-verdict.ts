import { seededRandom } from 'assize';
import { type Question, readWitness } from 'assize/internal/memory';
import type { AssertInput, Judge, Memory, Ruling } from 'assize/internal/runtime';
import {
  committed,
  endingAfterVote,
  hasEnded,
  type OwnMemory,
  openOwnMemory,
} from './own-memory.ts';

/** The verdicts on a memory that was run: true if an anomaly occurred. */
export interface MemoryVerdict {
  readonly n1: boolean;
  readonly n2: boolean;
  readonly n3: boolean;
}

/**
 * The identity of a repeated assertion: its source, its idempotency key, or no identity. Without an
 * identity, the repetition is a new assertion.
 */
export const NAMINGS = ['source', 'key', 'nothing'] as const;
export type Naming = (typeof NAMINGS)[number];

const SUBJECT = 'office';
const FROM = '2026-03-01T00:00:00.000000Z';
const AT_ONCE = 8;

/** One of several runtimes over one store, as processes of their own have them. */
type Begin = (trajectoryId: string, judge?: Judge) => Promise<Says>;

/** A memory to which everything is said under a name. */
interface Says {
  readonly memory: Memory;
  say(name: string, claim: AssertInput): Promise<Ruling>;
}

/** N1 to N3 of Assize, by its runtime. The assertions are proposals, in a store in memory. */
export async function runtimeVerdict(seed: string, naming: Naming): Promise<MemoryVerdict> {
  const own = await openOwnMemory({ manager: 'rule', weight: 'evi' }, seed);
  const begin: Begin = async (trajectoryId, judge) => {
    const memory = await own.begin(trajectoryId, judge && { judge });
    const say: Says['say'] = (name, claim) =>
      memory.assert(
        naming === 'source' ? { ...claim, source: name } : claim,
        naming === 'key' ? { idempotencyKey: name } : {},
      );
    return { memory, say };
  };
  const chance = seededRandom(`said ${seed}`);
  // A key is of one trajectory; the name of a source is the same in all.
  const again = naming === 'key' ? 'judged' : 'judged-again';
  const n1 = await voteIsLost(begin, own.oracle, again, chance.bytes(1)[0]! % 2 === 0);
  const n2 = await isDrifting(begin, [...chance.bytes(AT_ONCE)]);
  const n3 = await isErased((await begin('reader')).memory);
  await own.close();
  return { n1, n2, n3 };
}

/**
 * A judge votes, and its process ends before the commit. Another process asserts the same, with a
 * judge that would vote otherwise. Returns whether the second judge is asked, or whether another
 * fact holds.
 */
async function voteIsLost(
  begin: Begin,
  oracle: OwnMemory['oracle'],
  again: string,
  isBob: boolean,
): Promise<boolean> {
  const [voted, other] = isBob ? ['Bob', 'Carol'] : ['Carol', 'Bob'];
  let calls = 0;
  const first = await begin('judged', {
    oracle: endingAfterVote(oracle),
    choose: voteFor(voted as string),
  });
  const second = await begin(again, {
    oracle,
    choose: (question) => {
      calls += 1;
      return voteFor(other as string)(question);
    },
  });
  const say = (process: Says, object: string) =>
    process.say(`of ${object}`, {
      subject: SUBJECT,
      predicate: 'manager',
      object,
      valid: { from: FROM },
    });
  await committed(say(first, 'Bob'));
  if (!(await hasEnded(say(first, 'Carol'))))
    throw new Error('The judge was not asked, so that nothing is shown.');
  const believed: string[] = [];
  for (let round = 0; round < 2; round++) {
    await committed(say(second, 'Carol'));
    const { facts } = await second.memory.recall({ predicate: 'manager', valid: FROM });
    believed.push(facts.map(({ object }) => object).join());
  }
  return calls > 0 || believed.some((object) => object !== voted);
}

function voteFor(object: string): Judge['choose'] {
  return ({ members }: Question) => members.find((member) => member.object === object)?.claim ?? '';
}

/**
 * Two runtimes revise one partition concurrently. Returns whether several facts hold then, or a
 * less confident one.
 */
async function isDrifting(begin: Begin, confidences: readonly number[]): Promise<boolean> {
  const [one, other] = [await begin('one'), await begin('other')];
  await Promise.all(
    confidences.map((given, n) =>
      committed(
        (n % 2 === 0 ? one : other).say(`of value ${n}`, {
          subject: SUBJECT,
          predicate: 'weight',
          object: `value ${n}`,
          confidence: given / 255,
          valid: { from: FROM },
        }),
      ),
    ),
  );
  const { facts } = await one.memory.recall({ predicate: 'weight', valid: 'any' });
  return facts.length !== 1 || facts[0]?.confidence !== Math.max(...confidences) / 255;
}

/**
 * Whether an assertion that is not a current fact has no complete audit row. A complete audit row
 * has the whole assertion and its winner.
 */
async function isErased(memory: Memory): Promise<boolean> {
  const said = new Set([
    ...['Bob', 'Carol'],
    ...Array.from({ length: AT_ONCE }, (_, n) => `value ${n}`),
  ]);
  const { facts: believed } = await memory.recall({ valid: 'any' });
  const { facts: audit } = await memory.recall({ kind: 'audit', valid: 'any' });
  for (const { object } of believed) said.delete(object);
  for (const row of audit) {
    const { members, loser, winner } = readWitness(row);
    const lost = members.find(({ claim }) => claim === loser);
    if (lost !== undefined && lost.rows.length > 0 && members.some(({ claim }) => claim === winner))
      said.delete(lost.object);
  }
  return said.size > 0;
}
