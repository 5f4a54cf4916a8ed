/**
 * A walk over the life of a case (seed 000 §2.3). The test checks it against this file's reading of
 * the policy, without the domain's code.
 */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  walkLifeCycle,
} from '@assize/testing';
import type { Json } from 'assize/internal/base';
import { describe, expect, test } from 'vitest';
import { someFinds } from '../../../tests/support/models/some-finds.ts';
import { someOf } from '../../../tests/support/some-of.ts';
import { moderation, moderationInitial } from './index.ts';
import type { Account, ModerationState, Policy } from './schema.ts';
import { dayAt, Platform, roleOf } from './testing/platform.ts';

/**
 * A short policy, so a walk reaches its end. The third strike is a ban; a strike counts for two
 * days, and every other period is one day.
 */
const POLICY: Policy = {
  ladder: ['warn', 'limit', 'ban'],
  strike_days: 2,
  appeal_days: 1,
  term_days: { limit: 1, suspend: 1 },
};

type Phase =
  | 'none'
  | 'open'
  | 'harmless'
  | 'violating'
  | 'struck'
  | 'decided'
  | 'told'
  | 'in force'
  | 'over';

function phaseOf(
  { cases, assessments, strikes, actions, notices, enforcements, ends }: Account,
  id: string,
): Phase {
  if (ends[id] !== undefined) return 'over';
  if (enforcements[id] !== undefined) return 'in force';
  if (notices[id] !== undefined) return 'told';
  if (actions[id] !== undefined) return 'decided';
  if (strikes[id] !== undefined) return 'struck';
  if (assessments[id] !== undefined) return assessments[id].violates ? 'violating' : 'harmless';
  return cases[id] === undefined ? 'none' : 'open';
}

/** The steps that a case takes, and all of them. */
const STEPS = new Set([
  ...['triage: none to open', 'assess: open to harmless', 'assess: open to violating'],
  ...[
    'issue_strike: violating to struck',
    'take_action: struck to decided',
    'notify: decided to told',
  ],
  ...['enforce: told to in force', 'lift: in force to over', 'reinstate: in force to over'],
]);
const CASES = ['c1', 'c2', 'c3', 'c4'];

function allowed(
  before: ModerationState,
  step: LifeCycleStep,
  after: ModerationState,
): string | undefined {
  for (const id of CASES) {
    const [from, to] = [phaseOf(ana(before), id), phaseOf(ana(after), id)];
    if (from !== to && !STEPS.has(`${step.action}: ${from} to ${to}`))
      return `${step.action}: ${from} to ${to}`;
  }
  return forbidden(ana(before), step, ana(after));
}

function ana({ accounts }: ModerationState): Account {
  return accounts['ana'] as Account;
}

/** The policy's objection to a step, apart from the order of a case. */
function forbidden(
  before: Account,
  { action, role, args, at, approvedBy }: LifeCycleStep,
  after: Account,
): string | undefined {
  const { case: id = '', strike = '', kind, appeal = '', until } = args as Record<string, string>;
  const days = (from: string | undefined): number =>
    (Date.parse(at) - Date.parse(from ?? at)) / 86_400_000;
  const isOpen = ([name]: readonly [string, unknown]): boolean => {
    const decision = before.decisions[name];
    return decision === undefined || (decision.granted && decision.carried_out === undefined);
  };
  const open = Object.entries(before.appeals).filter(isOpen);
  const strikes = Object.entries(before.strikes).flatMap(([of, rows]) =>
    Object.entries(rows).map(([name, row]) => ({ of, name, row })),
  );
  const granted = (of: string) =>
    Object.values(before.decisions).some((it) => it.case === of && it.granted);
  switch (action) {
    case 'triage': {
      const about = Object.values(after.cases).map(({ content, clause }) => `${content} ${clause}`);
      const report = after.reports[(args as Record<string, string>)['report'] ?? ''];
      if (after.cases[id]?.content !== report?.content)
        return 'a report in a case about something else';
      return new Set(about).size < about.length ? 'two cases about one thing' : undefined;
    }
    case 'issue_strike': {
      if (strikes.some(({ of }) => of === role.params['case'])) return 'two strikes for one case';
      const unanswered = strikes.filter(
        ({ of, row }) => before.actions[of] === undefined && row.expired === undefined,
      );
      return unanswered.length > 0 ? 'a strike while another is unanswered' : undefined;
    }
    case 'take_action': {
      const active = strikes.filter(
        ({ row }) => row.overturned === undefined && days(row.at) < POLICY.strike_days,
      );
      if (!active.some(({ of, name }) => of === id && name === strike))
        return 'an action for a strike that does not count';
      if (kind !== POLICY.ladder[Math.min(active.length, 3) - 1])
        return `${kind} for ${active.length} strikes`;
      if (open.length > 0) return 'an action while an appeal is open';
      return kind === 'ban' && approvedBy?.startsWith('mod:') !== true
        ? 'a ban without a person'
        : undefined;
    }
    case 'enforce': {
      if (open.some(([, it]) => it.case === id) || granted(id)) return 'enforced against an appeal';
      const ends = before.actions[id]?.kind === 'ban' ? undefined : dayAt(days0(at) + 1);
      return until === ends ? undefined : 'in force for another time than it should be';
    }
    case 'lift':
      return at < (before.enforcements[id]?.until ?? '9') ? 'ended too early' : undefined;
    case 'expire_strike':
      return days(before.strikes[id]?.[strike]?.at) < POLICY.strike_days
        ? 'a strike that expired too early'
        : undefined;
    case 'file_appeal':
      if (open.some(([, it]) => it.case === id)) return 'two open appeals';
      if (granted(id)) return 'an appeal against what is overturned';
      if (before.notices[id] === undefined) return 'an appeal before the notice';
      return days(before.notices[id]?.at) < POLICY.appeal_days ? undefined : 'an appeal too late';
    case 'decide_appeal':
      if (before.decisions[appeal] !== undefined) return 'an appeal decided twice';
      return approvedBy === 'mod:mona' ? undefined : `an appeal decided by ${approvedBy}`;
    case 'reinstate':
      return granted(before.appeals[appeal]?.case ?? '')
        ? undefined
        : 'reinstated without a granted appeal';
    case 'close_case': {
      const phase = phaseOf(before, id);
      if (phase === 'harmless') return undefined;
      const isDone =
        ['in force', 'over'].includes(phase) || granted(id) || before.actions[id]?.kind === 'warn';
      if (!isDone || !['told', 'in force', 'over'].includes(phase)) return `closed when ${phase}`;
      if (open.some(([, it]) => it.case === id)) return 'closed under an open appeal';
      return days(before.notices[id]?.at) < POLICY.appeal_days ? 'closed too early' : undefined;
    }
    default:
      return undefined;
  }
}

function days0(at: string): number {
  return (Date.parse(at) - Date.parse(dayAt(0))) / 86_400_000;
}

/** All that is tried: of each action everything that could matter, now and a day later. */
function proposals(cases: number, contents: readonly string[], last: number) {
  return (state: ModerationState, at: string): LifeCycleProposal[] => {
    const day = days0(at);
    const known = CASES.slice(0, cases);
    const appeals = Object.keys(ana(state).appeals);
    const by = (
      action: Parameters<typeof roleOf>[0],
      args: Record<string, Json>,
      id = 'c1',
      when = day,
    ): LifeCycleProposal => ({
      ...{ action, args, at: dayAt(when) },
      role: roleOf(action, { case: id }),
    });
    const laterToo = [day, day + 1].filter((when) => when <= last);
    return [
      ...contents.map((content, i) =>
        by('receive_report', { report: `r${i}`, content, clause: 'spam', reporter: 'rita' }),
      ),
      ...contents.flatMap((_, i) => known.map((id) => by('triage', { report: `r${i}`, case: id }))),
      ...known.flatMap((id) => [
        by('assess', { violates: true, rationale: 'it is' }, id),
        by('assess', { violates: false, rationale: 'it is not' }, id),
        ...['s', 't'].map((strike) => by('issue_strike', { strike: `${strike}-${id}` }, id)),
        by('notify', { case: id, text: 'told' }),
        by('enforce', { case: id }),
        by('enforce', { case: id, until: dayAt(day + 1) }),
        by('enforce', { case: id, until: dayAt(day + 2) }),
        by('file_appeal', { appeal: `a${appeals.length}`, case: id, statement: 'no' }),
        ...laterToo.flatMap((when) => [
          ...POLICY.ladder.map((kind) =>
            by('take_action', { case: id, strike: `s-${id}`, kind }, id, when),
          ),
          by('lift', { case: id }, id, when),
          by('expire_strike', { case: id, strike: `s-${id}` }, id, when),
          by('close_case', { case: id }, id, when),
        ]),
      ]),
      ...known.map((id) =>
        by('file_appeal', { appeal: `a${appeals.length}`, case: id, statement: 'no' }, id, day + 1),
      ),
      ...appeals.flatMap((appeal) => [
        by('decide_appeal', { appeal, granted: true, reason: 'yes' }),
        by('decide_appeal', { appeal, granted: false, reason: 'no' }),
        by('reinstate', { appeal }),
      ]),
    ];
  };
}

const LIFE = {
  domain: moderation,
  allowed,
  at: dayAt(0),
  // Officer Otto decides every action.
  counselors: { moderator: ['mod:otto', 'mod:mona'] },
};

async function platform(begin: (platform: Platform) => Promise<void>): Promise<ModerationState> {
  const made = await Platform.open(moderation, moderationInitial(POLICY));
  await made.done('open_record', {});
  await begin(made);
  return made.state;
}

/**
 * The starts of the walks: no cases, three cases that broke the policy, and a limit with its
 * notice.
 */
const WALKS: Readonly<Record<string, LifeCycle<ModerationState>>> = {
  'from the first report': {
    ...LIFE,
    initial: await platform(async () => undefined),
    proposals: proposals(2, ['post', 'post', 'other'], 0),
    depth: 6,
  },
  'up the ladder': {
    ...LIFE,
    initial: await platform(async (made) => {
      await made.answered('c1', 'warn');
      await made.answered('c2', 'limit');
      await made.struck('c3');
      await made.violating('c4');
    }),
    proposals: proposals(4, [], 2),
    depth: 4,
  },
  'from a notice': {
    ...LIFE,
    initial: await platform(async (made) => {
      await made.answered('c1', 'warn');
      await made.answered('c2', 'limit');
    }),
    proposals: proposals(2, [], 2),
    depth: 5,
  },
};

const seen = new Map<string, ReturnType<typeof walkLifeCycle>>();

test.each(Object.entries(WALKS))('no step that the policy forbids: %s', (name, life) => {
  const walked = walkLifeCycle(life, someOf);
  seen.set(name, walked);
  expect(walked.counterexample).toBeUndefined();
});

test('each action is committed; each rule stops a call that the actions allow', () => {
  const names = (part: 'committed' | 'stopped') =>
    [...new Set([...seen.values()].flatMap((walked) => Object.keys(walked[part])))].sort();
  expect(names('committed')).toEqual(
    Object.keys(moderation.actions)
      .filter((name) => name !== 'open_record')
      .sort(),
  );
  expect(names('stopped')).toEqual(STOPPING.toSorted());
});

/** The rules that the actions satisfy by themselves. */
const AGREEING = [
  'ASSESSED_ON_REPORT',
  'OVERTURNED_ON_APPEAL',
  'ENDED_ON_APPEAL',
  'STANDING_ON_RECORD',
  'GRANTED_IS_CARRIED_OUT',
];
const STOPPING = moderation.rules.map(({ id }) => id).filter((id) => !AGREEING.includes(id));

describe('without a rule there is such a step', () => {
  test.each(someOf(STOPPING))('%s', (id) => {
    const domain = domainWithout(moderation, id);
    expect(someFinds(Object.values(WALKS).map((life) => ({ ...life, domain })))).toBe(true);
  });
});
