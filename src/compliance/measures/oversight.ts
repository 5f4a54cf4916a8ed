import { ESCALATION_REASONS } from '../evidence/figures.ts';
import type { Evidence } from '../evidence/gather.ts';
import { EXAMPLES_MAX } from '../evidence/tally.ts';
import { events, type Finding, happened, type Measure, number, plural, tallyOf } from './measure.ts';

const PENDING = { command: 'assize pending', api: 'GET /v1/approvals' };
const DECISION = { command: 'assize bundle --approval ENTRY --out FILE', api: 'GET /v1/bundles' };
const PERSON = { command: 'assize bundle --person NAME --out FILE', api: 'GET /v1/bundles' };

export const ASKED: Measure = {
  id: 'oversight.asked',
  title: 'Proposals stop and wait for a person',
  proof: DECISION,
  find: (evidence) => {
    const found = happened(tallyOf(evidence, ...ESCALATION_REASONS.map((reason) => `escalated:${reason}` as const)), [
      'proposal asked a person',
      'proposals asked a person',
    ]);
    if (found.status === 'shown') return found;
    const remedy =
      'The ledger shows no human oversight in the period. Add a rule that escalates, or show the oversight by other records.';
    return { ...found, status: 'gap', remedy };
  },
};

export const DECIDED: Measure = {
  id: 'oversight.decided',
  title: 'A named person approves or refuses, and the entry has the name and the reason',
  proof: DECISION,
  find: (evidence) => {
    const approvals = tallyOf(evidence, 'approvals');
    const refusals = tallyOf(evidence, 'refused:counselor_rejected');
    const all = tallyOf(evidence, 'approvals', 'refused:counselor_rejected');
    const figure = `${plural(approvals.count, 'approval', 'approvals')}, ${plural(refusals.count, 'refusal', 'refusals')}`;
    return all.count === 0 ? { status: 'none', figure } : { status: 'shown', figure, examples: all.examples };
  },
};

export const DECISION_TIME: Measure = {
  id: 'oversight.time',
  title: 'The time from a proposal to its decision is known',
  proof: DECISION,
  find: ({ collected: { decisions } }) => {
    const times = decisions.times();
    if (times === undefined) return { status: 'none', figure: 'no decision' };
    return { status: 'shown', figure: `median ${duration(times.median)}, longest ${duration(times.longest)}` };
  },
};

export const EXPIRED: Measure = {
  id: 'oversight.expired',
  title: 'No proposal ended without a decision',
  proof: PENDING,
  find: (evidence) => {
    const { collected, asOf = '' } = evidence;
    const expired = tallyOf(evidence, 'refused:expired');
    const overdue = collected.decisions.waiting().filter(({ expires }) => expires !== undefined && expires <= asOf);
    const late = expired.count + overdue.length;
    if (late > 0)
      return {
        status: 'gap',
        figure: `${plural(late, 'proposal', 'proposals')} expired without a decision`,
        examples: [...expired.examples, ...overdue.map(({ example }) => example)].slice(0, EXAMPLES_MAX),
        remedy: 'Tell more people sooner (notices), or name more counselors.',
      };
    const waiting = collected.decisions.waiting().filter(({ isEffect }) => !isEffect);
    const figure = `0 expired, ${number(waiting.length)} still open`;
    const asked = happened(tallyOf(evidence, 'approvals', 'refused:counselor_rejected'), ['', '']);
    return { status: asked.status === 'shown' || waiting.length > 0 ? 'shown' : 'none', figure };
  },
};

export const NOT_SELF: Measure = {
  id: 'oversight.not_self',
  title: 'No requester approves its own proposal, nor a grantor of its writ: the kernel refuses it',
  proof: PERSON,
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
  title: 'More than one person decides, so that one can stand in for another',
  proof: PERSON,
  find: ({ collected: { deciders } }) => {
    const people = [...deciders].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
    const listed = people.slice(0, 5).map(([name, count]) => `${name} (${number(count)})`);
    const more = people.length > 5 ? ` and ${number(people.length - 5)} more` : '';
    const figure = `${plural(people.length, 'person', 'people')}${people.length === 0 ? '' : `: ${listed.join(', ')}${more}`}`;
    if (people.length > 1) return { status: 'shown', figure };
    const remedy = 'Name a second counselor in the domain or the config, and let both decide.';
    return people.length === 0 ? { status: 'none', figure } : { status: 'gap', figure, remedy };
  },
};

export const OVERRIDES: Measure = {
  id: 'oversight.overrides',
  title: 'An override of a rule has a name and a reason',
  proof: DECISION,
  find: (evidence): Finding => {
    const without = tallyOf(evidence, 'overrides_without_reason');
    const all = tallyOf(evidence, 'overrides_with_reason', 'overrides_without_reason');
    if (without.count === 0) return happened(all, ['override, with a reason', 'overrides, each with a reason']);
    return {
      status: 'gap',
      figure: `${number(without.count)} of ${plural(all.count, 'override', 'overrides')} without a reason`,
      examples: without.examples,
      remedy: 'Ask the counselors for a reason with each override, and record the missing ones elsewhere.',
    };
  },
};

export const SEVERAL: Measure = events(
  'oversight.several',
  'Proposals that need several people are committed after the last of them only',
  ['proposal approved by several people', 'proposals approved by several people'],
  ['approved_by_several'],
  DECISION,
);

export const AMENDED: Measure = events(
  'oversight.amended',
  'A person changes a proposal before it is committed, and both forms are recorded',
  ['amended proposal', 'amended proposals'],
  ['amendments'],
  DECISION,
);

export const HALTED: Measure = {
  id: 'oversight.halts',
  title: 'A person stops all work at once, with a reason',
  proof: { command: 'assize halt TRAJECTORY', api: 'POST /v1/trajectories/{trajectory}/halt' },
  find: (evidence) => {
    const halts = tallyOf(evidence, 'halts');
    const resumes = tallyOf(evidence, 'resumes');
    const standing = evidence.collected.halted.size;
    const figure = `${plural(halts.count, 'halt', 'halts')}, ${plural(resumes.count, 'resume', 'resumes')}, ${number(standing)} standing`;
    const { examples, count } = tallyOf(evidence, 'halts', 'resumes');
    return count + standing === 0
      ? { status: 'none', figure }
      : { status: 'shown', figure, examples: count > 0 ? examples : standingOf(evidence) };
  },
};

function standingOf({ collected }: Evidence) {
  return [...collected.halted.values()].slice(0, EXAMPLES_MAX);
}

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
