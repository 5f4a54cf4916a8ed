import { isOfAssistant, UNNAMED_USER, usersOf } from './author.ts';
import { EntrySizeBudget } from './entry-size-budget.ts';
import { MemoryError } from './errors.ts';
import {
  type FactRow,
  type MergeProvenance,
  objectKey,
  type Partition,
  type Provenance,
  type TrustProvenance,
  validOf,
} from './fact.ts';
import type { Group, Item } from './group.ts';
import { atomicSegments, coalesce, type Period } from './period.ts';
import type { PredicateDeclaration } from './predicate.ts';
import { type Answer, type Question, questionOf } from './question.ts';
import { type Candidate, compare, isSelection, preferred, type Strategy } from './strategy.ts';
import { confirmedProvenance } from './sum-provenance.ts';

/** A group that holds in a period. */
export interface Belief extends Group, Period {
  readonly provenance: Provenance;
}

/** A contradiction in an atomic segment, with its winner. */
export interface Contest {
  readonly segment: Period;
  readonly winner: Group;
  /** The items of the winner that hold: an earlier one for its object may have been replaced. */
  readonly standing: readonly Item[];
  readonly losers: readonly Group[];
  readonly question: Question;
  /** Set if an answer chose the winner. */
  readonly answer?: Answer;
}

/** How the provenance of a fact is composed. */
export interface Annotating {
  readonly merge: MergeProvenance;
  /** The provenance of a fact that an answer chose. Default: as without the answer. */
  readonly trust?: TrustProvenance | undefined;
}

export interface Settlement {
  /** By valid time, then by object. Adjacent periods with the same content are merged. */
  readonly beliefs: readonly Belief[];
  /** By valid time. */
  readonly contests: readonly Contest[];
  /** Questions to answer first. If there are any, ignore the rest of the result. */
  readonly questions: readonly Question[];
  /** Maximum number of characters of an entry for the result, for any answers. */
  readonly most: number;
}

/**
 * Settles contradictions: valid time is cut at all borders, and each atomic segment is settled
 * separately among its items (TOKI Prop. 14, Remark 3; docs/decisions/017-memory.md). The result
 * does not depend on the order of the items.
 * @throws MemoryError `unknown_member`, `stale_answer`; `too_much_at_once`, before any question is
 * asked
 */
export function settle(
  partition: Partition,
  { cardinality, strategy, remainder }: PredicateDeclaration,
  items: readonly Item[],
  answers: ReadonlyMap<string, Answer>,
  { merge, trust = unchanged }: Annotating,
): Settlement {
  const uncontested: (Group & Period)[] = [];
  const won: Belief[] = [];
  const contests: Contest[] = [];
  const asked = new Map<string, Question>();
  const open = new Map<string, Question>();
  const room = new EntrySizeBudget();
  const settled: { readonly segment: Period; readonly groups: readonly Group[] }[] = [];
  const contest = (segment: Period, groups: readonly Group[]): Contest | undefined => {
    const question = questionOf(partition, strategy, groups.map(memberOf));
    asked.set(question.request, question);
    const answer = answers.get(question.request);
    if (isSelection(strategy) && answer === undefined) {
      open.set(question.request, question);
      return undefined;
    }
    const { winner, standing } = isSelection(strategy)
      ? elected(groups, answer!)
      : winnerOf(groups, strategy);
    const losers = groups.filter((group) => group !== winner);
    const contested = {
      segment,
      winner,
      standing,
      losers,
      question,
      ...(answer !== undefined && { answer }),
    };
    contests.push(contested);
    return contested;
  };
  for (const { segment, held } of segmentsOf(items)) {
    const ended = new Set<Item>();
    for (const groups of endingsOf(held, strategy)) {
      room.reserve(groups);
      const winner = contest(segment, groups)?.winner;
      if (winner?.head.isEnd) for (const item of groups[0]!.items) ended.add(item);
    }
    const groups = groupsOf(
      held.filter((item) => !item.isEnd && !ended.has(item)),
      strategy,
    );
    if (cardinality === 'single-valued' && groups.length > 0) room.reserve(groups);
    settled.push({ segment, groups });
  }
  for (const { segment, groups } of settled) {
    if (cardinality === 'multi-valued' || groups.length < 2) {
      uncontested.push(...groups.map((group) => ({ ...group, ...segment })));
      continue;
    }
    const contested = contest(segment, groups);
    if (contested === undefined) continue;
    const { standing, answer } = contested;
    const provenance = confirmedProvenance(standing, merge);
    // Facts that stood before do not rest on the answer that left them standing.
    const isChosen = answer !== undefined && standing.some(({ isNew }) => isNew);
    won.push({
      ...groupOf(standing, strategy),
      ...segment,
      provenance: isChosen ? trust(provenance, answer) : provenance,
    });
  }
  for (const request of answers.keys())
    if (!isSelection(strategy) || !asked.has(request)) throw staleAnswer(request);
  const left = remainder === 'keep' ? uncontested : withoutLosers(uncontested, contests, strategy);
  const stood = left.map((group) => ({
    ...group,
    provenance: confirmedProvenance(group.items, merge),
  }));
  return {
    beliefs: joined([...stood, ...won]),
    contests,
    questions: [...open.values()],
    most: room.most,
  };
}

/** The member that stands for a group in questions and answers. */
export function memberOf({ head, object, confidence, items }: Group): Question['members'][number] {
  const rows = items.map(({ row }) => row);
  return { claim: head.row.lineage, confidence, ...(head.isEnd && { ends: true }), object, rows };
}

/**
 * The atomic segments in order, each with its items. With many items, most are in other segments.
 */
function* segmentsOf(
  items: readonly Item[],
): Generator<{ readonly segment: Period; readonly held: readonly Item[] }> {
  const parts = items
    .flatMap((item) => item.parts.map(({ from, to }) => ({ from, to, item })))
    .sort((a, b) => compare(a.from, b.from));
  let begun = 0;
  let held: typeof parts = [];
  for (const segment of atomicSegments(parts)) {
    held = held.filter(({ to }) => to > segment.from);
    for (; begun < parts.length && parts[begun]!.from <= segment.from; begun++)
      held.push(parts[begun]!);
    yield { segment, held: held.map(({ item }) => item) };
  }
}

/**
 * The facts of a segment that a statement ends, each with the end. An end concerns facts that were
 * stated to begin before it.
 */
function endingsOf(items: readonly Item[], strategy: Strategy): [standing: Group, end: Group][] {
  const ends = groupsOf(
    items.filter(({ isEnd }) => isEnd),
    strategy,
  );
  return ends.flatMap((end): [Group, Group][] => {
    const key = objectKey(end.object);
    const isEnded = ({ row, isNew }: Item): boolean =>
      !isNew && objectKey(row.object) === key && row.asserted_from < end.head.row.asserted_from;
    const standing = items.filter(isEnded);
    return standing.length === 0 ? [] : [[groupOf(standing, strategy), end]];
  });
}

/**
 * The group that stands after the claims were made one after the other: a claim takes the place of
 * the group that stands if the strategy prefers it. It replaces the word of a named user only as
 * the word of the same user, or of no user.
 */
function winnerOf(groups: readonly Group[], strategy: Strategy): Winner {
  const claims = groups.flatMap((group) => group.items.map((item) => ({ group, item })));
  if (claims.every(({ item }) => usersOf(item.row).length === 0))
    return whole(preferredGroup(strategy, groups));
  const stated = new Map<Group, Item[]>(groups.map((group) => [group, []]));
  let winner: Group | undefined;
  let standing: Item[] = [];
  for (const { group, item } of claims.sort((a, b) => byAssertion(a.item, b.item))) {
    stated.get(group)!.push(item);
    // Another user's word for the same object adds no rank to a claim that it could not replace.
    const isPreferred = (): boolean => {
      const mine = groupOf(
        stated.get(group)!.filter((each) => mayReplace(each, standing)),
        strategy,
      );
      return preferredGroup(strategy, [groupOf(stated.get(winner!)!, strategy), mine]) === mine;
    };
    if (group === winner) standing.push(item);
    else if (winner === undefined || (mayReplace(item, standing) && isPreferred())) {
      winner = group;
      standing = [item];
    }
  }
  return { winner: winner!, standing };
}

type Winner = Pick<Contest, 'winner' | 'standing'>;

function whole(winner: Group): Winner {
  return { winner, standing: winner.items };
}

function preferredGroup(strategy: Strategy, groups: readonly Group[]): Group {
  return preferred(strategy, groups, (group) => candidateOf(group.head.row, group.confidence));
}

function mayReplace({ row }: Item, standing: readonly Item[]): boolean {
  const users = usersOf(row);
  const mayReplaceWordOf = (user: string): boolean => user === UNNAMED_USER || users.includes(user);
  return (
    users.length === 0 || standing.every((other) => usersOf(other.row).every(mayReplaceWordOf))
  );
}

/** Facts come first, and claims of one commit are in the order of their valid time. */
function byAssertion(first: Item, second: Item): number {
  const [a, b] = [first.row, second.row];
  const isMade = ({ isNew, isLeft }: Item): number => Number(isNew && isLeft !== true);
  return (
    isMade(first) - isMade(second) ||
    a.asserted_seq - b.asserted_seq ||
    compare(a.asserted_from, b.asserted_from) ||
    compare(a.lineage, b.lineage)
  );
}

function groupsOf(items: readonly Item[], strategy: Strategy): Group[] {
  const byObject = Map.groupBy(items, ({ row }) => objectKey(row.object));
  return [...byObject.values()].map((same) => groupOf(same, strategy));
}

function groupOf(items: readonly Item[], strategy: Strategy): Group {
  const ordered = [...items].sort(byIdentity);
  const best = preferred(strategy, ordered, ({ row }) => candidateOf(row, row.confidence));
  // By valid time the preferred claim is the one that each border belongs to.
  const head = ordered[0]!.isNew || strategy === 'lww-valid' ? best : ordered[0]!;
  return { object: head.row.object, items: ordered, head, confidence: best.row.confidence };
}

/** Current facts first, then by valid time. */
function byIdentity(a: Item, b: Item): number {
  return (
    Number(a.isNew) - Number(b.isNew) ||
    compare(validOf(a.row).from, validOf(b.row).from) ||
    compare(a.row.fact_id, b.row.fact_id)
  );
}

function candidateOf(row: FactRow, confidence: number): Candidate {
  const { lineage: claim, asserted_seq: assertedSeq, asserted_from: assertedFrom } = row;
  return { claim, confidence, assertedSeq, assertedFrom, isOfAssistant: isOfAssistant(row) };
}

function elected(groups: readonly Group[], { request, winner }: Answer): Winner {
  const group = groups.find(({ items }) => items.some(({ row }) => row.lineage === winner));
  if (group !== undefined) return whole(group);
  throw new MemoryError(
    'unknown_member',
    'The answer elects a claim that is not in the question. Choose the claim of one of its members.',
    {
      evidence: { request, winner },
    },
  );
}

/**
 * Drops the rest of losers that lost in another segment (Algorithm 1 of TOKI closes a loser as a
 * whole).
 */
function withoutLosers(
  beliefs: readonly (Group & Period)[],
  contests: readonly Contest[],
  strategy: Strategy,
): (Group & Period)[] {
  const settled = contests.filter(({ winner }) => !winner.head.isEnd);
  const lost = new Set(settled.flatMap(({ losers }) => losers.flatMap(({ items }) => items)));
  return beliefs.flatMap(({ from, to, items }) => {
    const rest = items.filter((item) => !lost.has(item));
    return rest.length === 0 ? [] : [{ ...groupOf(rest, strategy), from, to }];
  });
}

/**
 * Merges adjacent segments of one fact. Segments with other claims, and so with another provenance,
 * stay separate: each claim keeps its own borders.
 */
function joined(beliefs: readonly Belief[]): Belief[] {
  const byObject = Map.groupBy(beliefs, ({ object }) => objectKey(object));
  return [...byObject.values()]
    .flatMap((same) =>
      coalesce(same, (a, b) => {
        if (a.head !== b.head || a.confidence !== b.confidence || a.provenance !== b.provenance)
          return undefined;
        return { ...a, items: [...new Set([...a.items, ...b.items])], to: b.to };
      }),
    )
    .sort((a, b) => compare(a.from, b.from) || compare(a.object, b.object));
}

function unchanged(provenance: Provenance): Provenance {
  return provenance;
}

function staleAnswer(request: string): MemoryError {
  return new MemoryError(
    'stale_answer',
    'The question is out of date, because the facts have changed since it was asked. Ask it again.',
    { evidence: { request } },
  );
}
