import { type AssizeError, isAssizeError } from '#base';
import type { MemoryStatement } from '#kernel';
import { OPEN_END, OPEN_START, overlaps } from '#memory';
import type { Ruling } from '../records/ruling.ts';
import type { Declaring } from './plan/validate.ts';

/** The outcome of facts that stand for themselves. Each is in one of the two lists. */
export interface AssertedEach {
  /** One for each proposal, with the indexes of its facts. */
  readonly rulings: readonly { readonly claims: readonly number[]; readonly ruling: Ruling }[];
  /** The invalid facts, with their index. They were not proposed. */
  readonly leftOut: readonly { readonly claim: number; readonly error: AssizeError }[];
}

type Claim = Extract<MemoryStatement, { verb: 'assert' }>;

interface Indexed {
  readonly n: number;
  readonly claim: Claim;
}

export interface EachPorts {
  /** @throws AssizeError for an invalid fact */
  readonly validate: (claim: object, argument: string) => Claim;
  readonly propose: (statements: readonly Claim[]) => Promise<Ruling>;
}

/**
 * Proposes together what needs no answer, and then each group that another proposal could hold
 * back.
 */
export async function assertEach(
  given: readonly object[],
  domain: Declaring,
  { validate, propose }: EachPorts,
): Promise<AssertedEach> {
  const leftOut: AssertedEach['leftOut'][number][] = [];
  const claims = given.flatMap((each, n): Indexed[] => {
    try {
      return [{ n, claim: validate(each, `claims.${n}`) }];
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      leftOut.push({ claim: n, error });
      return [];
    }
  });
  const { free = [], asking = [] } = Object.groupBy(groupsOf(claims, domain), (group) =>
    mayAsk(group[0]!.claim, domain) ? 'asking' : 'free',
  );
  const rulings: AssertedEach['rulings'][number][] = [];
  const say = async (group: readonly Indexed[]): Promise<Ruling> => {
    const ruling = await propose(group.map(({ claim }) => claim));
    rulings.push({ claims: group.map(({ n }) => n), ruling });
    return ruling;
  };
  if (free.length > 0) {
    const ruling = await say(free.flat());
    // A refusal of all may be the fault of one.
    if (ruling.ruling === 'rejected' && free.length > 1) {
      rulings.pop();
      for (const group of free) await say(group);
    }
  }
  for (const group of asking) await say(group);
  return { rulings, leftOut };
}

/**
 * Facts that can contradict one another: of one subject and single-valued predicate, at one time.
 */
function groupsOf(claims: readonly Indexed[], domain: Declaring): Indexed[][] {
  const groups: Indexed[][] = [];
  for (const each of claims) {
    const met = groups.filter((group) =>
      group.some((other) => mayContradict(each.claim, other.claim, domain)),
    );
    for (const group of met) groups.splice(groups.indexOf(group), 1);
    groups.push([...met.flat(), each].sort((a, b) => a.n - b.n));
  }
  return groups;
}

function mayContradict(a: Claim, b: Claim, { memory }: Declaring): boolean {
  if (a.subject !== b.subject || a.predicate !== b.predicate) return false;
  if (memory?.predicates[a.predicate]?.cardinality === 'multi-valued') return false;
  return overlaps(statedPeriod(a), statedPeriod(b));
}

/** Without a start, the start is not known here. */
function statedPeriod({ valid, ends }: Claim) {
  return { from: valid?.from ?? OPEN_START, to: ends ? OPEN_END : (valid?.to ?? OPEN_END) };
}

/**
 * Whether a person or a policy may have to answer first. Only an end contradicts one of many
 * values.
 */
function mayAsk({ predicate, ends }: Claim, { memory }: Declaring): boolean {
  const { strategy, cardinality } = memory!.predicates[predicate]!;
  return (
    (strategy === 'await' || strategy === 'rule') &&
    (cardinality === 'single-valued' || ends === true)
  );
}
