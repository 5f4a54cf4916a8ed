import { isSamePrincipal } from 'assize/internal/kernel';
import { ESCALATION_REASONS } from '../evidence/figures.ts';
import { distinctPeople, mayBePerson } from '../evidence/people.ts';
import { EXAMPLES_MAX } from '../evidence/tally.ts';
import {
  events,
  type Finding,
  happened,
  type Measure,
  namesText,
  number,
  outside,
  plural,
  tallyOf,
} from './measure.ts';
import { BUNDLE_DECISION, BUNDLE_PERSON, HALT, LIST_PENDING } from './proofs.ts';

const NO_PERSON =
  'Only agents have decided. Name a person as a counselor, and let that person decide.';

export const ASKED: Measure = {
  id: 'oversight.asked',
  title: 'Proposals stop and wait for a counselor',
  proof: BUNDLE_DECISION,
  find: (evidence) => {
    const found = happened(
      tallyOf(evidence, ...ESCALATION_REASONS.map((reason) => `escalated:${reason}` as const)),
      ['proposal asked a counselor', 'proposals asked a counselor'],
    );
    if (found.status === 'shown') return found;
    const remedy =
      'No proposal of the period asked a counselor. Add a rule that escalates, or show the oversight by other records.';
    return { ...found, status: 'gap', remedy };
  },
};

export const DECIDED: Measure = {
  id: 'oversight.decided',
  title:
    'A counselor, not an agent, approves or refuses, and the entry has the name and the reason',
  proof: BUNDLE_DECISION,
  find: (evidence) => {
    const approvals = tallyOf(evidence, 'people:approvals');
    const refusals = tallyOf(evidence, 'people:refusals');
    const programs = tallyOf(evidence, 'programs:decisions');
    const all = tallyOf(evidence, 'people:approvals', 'people:refusals');
    const byPrograms =
      programs.count === 0
        ? ''
        : `, and ${plural(programs.count, 'decision', 'decisions')} by agents`;
    const figure = `${plural(approvals.count, 'approval', 'approvals')}, ${plural(refusals.count, 'refusal', 'refusals')}${byPrograms}`;
    if (all.count > 0) return { status: 'shown', figure, examples: all.examples };
    if (programs.count === 0) return { status: 'none', figure };
    return { status: 'gap', figure, examples: programs.examples, remedy: NO_PERSON };
  },
};

export const DECISION_TIME: Measure = {
  id: 'oversight.time',
  title: 'The time from a proposal to its decision is known',
  proof: BUNDLE_DECISION,
  find: ({ collected: { decisions } }) => {
    const times = decisions.times();
    if (times === undefined) return { status: 'none', figure: 'no decision' };
    return {
      status: 'shown',
      figure: `median ${duration(times.median)}, longest ${duration(times.longest)}`,
    };
  },
};

export const EXPIRED: Measure = {
  id: 'oversight.expired',
  title: 'No proposal ended without a decision',
  proof: LIST_PENDING,
  find: (evidence) => {
    const { collected, asOf = '' } = evidence;
    const expired = tallyOf(evidence, 'refused:expired');
    const overdue = collected.decisions
      .waiting()
      .filter(({ expires }) => expires !== undefined && expires <= asOf);
    const late = expired.count + overdue.length;
    if (late > 0)
      return {
        status: 'gap',
        figure: `${plural(late, 'proposal', 'proposals')} expired without a decision`,
        examples: [...expired.examples, ...overdue.map(({ example }) => example)].slice(
          0,
          EXAMPLES_MAX,
        ),
        remedy: 'Tell more people sooner (notices), or name more counselors.',
      };
    const waiting = collected.decisions.waiting().filter(({ isEffect }) => !isEffect);
    const figure = `0 expired, ${number(waiting.length)} still open`;
    const decided = tallyOf(evidence, 'approvals', 'refused:counselor_rejected');
    return { status: decided.count + waiting.length > 0 ? 'shown' : 'none', figure };
  },
};

export const NOT_SELF: Measure = {
  id: 'oversight.not_self',
  title: 'No requester approves its own proposal, nor a grantor of its writ: the kernel refuses it',
  proof: BUNDLE_PERSON,
  find: (evidence) => {
    const approvals = tallyOf(evidence, 'approvals');
    const own = tallyOf(evidence, 'self_approvals');
    const unknown = tallyOf(evidence, 'requester_unknown');
    const figure = `${number(own.count)} of ${plural(approvals.count, 'approval', 'approvals')} by the requester`;
    if (approvals.count === 0) return { status: 'none', figure };
    if (own.count > 0)
      return {
        status: 'gap',
        figure,
        examples: own.examples,
        remedy: 'Treat it as an incident: another program wrote the entry.',
      };
    if (unknown.count === 0) return { status: 'shown', figure, examples: approvals.examples };
    return {
      status: 'gap',
      figure: `${figure}; of ${number(unknown.count)} the requester is not in the store`,
      examples: unknown.examples,
      remedy: 'Restore the writs: assize verify names the first that is missing.',
    };
  },
};

export const COUNSELORS: Measure = {
  id: 'oversight.people',
  title: 'More than one counselor decides, agents aside, so that one can stand in for another',
  proof: BUNDLE_PERSON,
  find: ({ collected: { deciders } }) => {
    const named = distinctPeople([...deciders.keys()]);
    const people = named
      .map((name) => [name, decisionsOf(name, deciders)] as const)
      .sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
    const listed = namesText(people.map(([name, count]) => `${name} (${number(count)})`));
    const figure = `${plural(people.length, 'counselor', 'counselors')}${listed === '' ? '' : `: ${listed}`}`;
    if (people.length > 1) return { status: 'shown', figure };
    if (deciders.size === 0) return { status: 'none', figure };
    const remedy = 'Name a second counselor in the domain or the config, and let both decide.';
    return { status: 'gap', figure, remedy: people.length === 0 ? NO_PERSON : remedy };
  },
};

/** The decisions of a principal under all spellings of its name. */
function decisionsOf(name: string, deciders: ReadonlyMap<string, number>): number {
  return [...deciders].reduce(
    (sum, [other, count]) => (isSamePrincipal(name, other) ? sum + count : sum),
    0,
  );
}

/** A ledger has names, and a name proves no person. */
export const IS_PERSON: Measure = outside(
  'person',
  'A person stands behind each name that decides or stops',
  'Attach the configuration of the sign-in, and the list of the people and their names in the ledger.',
);

export const OVERRIDES: Measure = {
  id: 'oversight.overrides',
  title: 'An override of a rule has a name and a reason',
  proof: BUNDLE_DECISION,
  find: (evidence): Finding => {
    const without = tallyOf(evidence, 'overrides_without_reason');
    const all = tallyOf(evidence, 'overrides_with_reason', 'overrides_without_reason');
    if (without.count === 0)
      return happened(all, ['override, with a reason', 'overrides, each with a reason']);
    return {
      status: 'gap',
      figure: `${number(without.count)} of ${plural(all.count, 'override', 'overrides')} without a reason`,
      examples: without.examples,
      remedy:
        'Ask the counselors for a reason with each override, and record the missing ones elsewhere.',
    };
  },
};

export const SEVERAL: Measure = events(
  'oversight.several',
  'Proposals that need several counselors are committed after the last of them only',
  [
    'proposal approved by several counselors, agents aside',
    'proposals approved by several counselors, agents aside',
  ],
  ['people:several'],
  BUNDLE_DECISION,
);

export const AMENDED: Measure = events(
  'oversight.amended',
  'A counselor, not an agent, changes a proposal before its commit, and both forms are recorded',
  ['amended proposal', 'amended proposals'],
  ['people:amendments'],
  BUNDLE_DECISION,
);

export const HALTED: Measure = {
  id: 'oversight.halts',
  title: 'A principal, not an agent, stops all work immediately, with a reason',
  proof: HALT,
  find: (evidence) => {
    const halts = tallyOf(evidence, 'people:halts');
    const resumes = tallyOf(evidence, 'people:resumes');
    const programs = tallyOf(evidence, 'programs:halts');
    const standing = [...evidence.collected.halted.values()];
    const byPeople = standing.filter(({ by }) => mayBePerson(by)).map(({ example }) => example);
    const byPrograms =
      programs.count === 0 ? '' : `, and ${plural(programs.count, 'entry', 'entries')} by agents`;
    const figure = `${plural(halts.count, 'halt', 'halts')}, ${plural(resumes.count, 'resume', 'resumes')}, ${number(standing.length)} standing${byPrograms}`;
    const { examples, count } = tallyOf(evidence, 'people:halts', 'people:resumes');
    if (count > 0) return { status: 'shown', figure, examples };
    if (byPeople.length > 0)
      return { status: 'shown', figure, examples: byPeople.slice(0, EXAMPLES_MAX) };
    return { status: 'none', figure };
  },
};

/** `3 min`, `2.5 h`: to two digits, in the largest unit with at least one. */
export function duration(millis: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  const [name, size] = units.find(([, one]) => millis >= one) ?? (['ms', 1] as const);
  return `${Number((millis / size).toPrecision(2))} ${name}`;
}
