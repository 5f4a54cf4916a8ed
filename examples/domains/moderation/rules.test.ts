import { World } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { moderation } from './index.ts';
import type { Account, ModerationState } from './schema.ts';
import { halfAYear } from './testing/half-a-year.ts';
import { dayAt } from './testing/platform.ts';

/** The invariants that a state breaks. */
function broken(state: ModerationState): string[] {
  return new World(moderation, structuredClone(state) as never).failing.map(({ rule }) => rule.id);
}

const base = await halfAYear();

type Ana = Account & Pick<ModerationState, 'policy'>;

/** The base with something changed: of Ana, or of the policy. */
function but(change: (ana: Ana) => void): ModerationState {
  const state = structuredClone(base);
  change({ ...(state.accounts['ana'] as Account), policy: state.policy });
  return state;
}

const now = { at: dayAt(15), n: 100 };

test('the base breaks nothing', () => expect(broken(base)).toEqual([]));

// Each row breaks its rule alone, so the neighbouring rules pass. The line after it is as close as
// possible and breaks no rule.
const table: readonly (readonly [
  id: string,
  what: string,
  wrong: (ana: Ana) => void,
  right: (ana: Ana) => void,
])[] = [
  [
    'DUPLICATES_MERGE',
    'two cases of one content and clause; of one content under two clauses',
    ({ cases }) => Object.assign(cases, { c7: { ...cases['c4']!, ...now } }),
    ({ cases }) => Object.assign(cases, { c7: { ...cases['c4']!, ...now, clause: 'hate' } }),
  ],
  [
    'REPORT_IN_ITS_CASE',
    'a report in a case about something else; in the case of its content',
    ({ reports }) => Object.assign(reports['r6']!, { case: 'c4' }),
    ({ reports }) => Object.assign(reports['r6']!, { case: 'c4', content: 'post-c4' }),
  ],
  [
    'REPORT_IN_ITS_CASE',
    'a report in no case that there is; in none',
    ({ reports }) => Object.assign(reports['r6']!, { case: 'c9' }),
    ({ reports }) => Object.assign(reports['r6']!, { clause: 'hate' }),
  ],
  [
    'ASSESSED_ON_REPORT',
    'an assessment of what nobody reported; before it was reported',
    ({ assessments }) =>
      Object.assign(assessments, { c9: { violates: false, rationale: 'no', ...now } }),
    ({ assessments, cases }) => {
      cases['c9'] = { content: 'post-c9', clause: 'spam', ...now };
      assessments['c9'] = { violates: false, rationale: 'no', ...now, n: 101 };
    },
  ],
  [
    'CLOSED_WHEN_DONE',
    'a case closed that nobody assessed; one found harmless',
    ({ closures, cases }) => {
      cases['c9'] = { content: 'post-c9', clause: 'spam', ...now };
      closures['c9'] = { ...now, n: 101 };
    },
    ({ closures }) => Object.assign(closures, { c4: now }),
  ],
  [
    'CLOSED_WHEN_DONE',
    'closed while it can be appealed; on the day from which it can’t',
    ({ closures }) => Object.assign(closures, { c3: { ...now, at: dayAt(28) } }),
    ({ closures }) => Object.assign(closures, { c3: { ...now, at: dayAt(29) } }),
  ],
  [
    'CLOSED_WHEN_DONE',
    'closed while an appeal is open, however late; when it was refused and the action is in force',
    ({ closures }) => Object.assign(closures, { c5: { ...now, at: dayAt(99) } }),
    ({ closures, decisions, enforcements, standing }) => {
      decisions['a5'] = { case: 'c5', granted: false, reason: 'no joke', by: 'mod:mona', ...now };
      enforcements['c5'] = { at: dayAt(16), n: 101, until: dayAt(46) };
      Object.assign(standing, { level: 'suspended', case: 'c5', until: dayAt(46) });
      closures['c5'] = { at: dayAt(99), n: 102 };
    },
  ],
  [
    'CLOSED_WHEN_DONE',
    'closed though the action never was in force; it was, and is over',
    ({ closures, enforcements, standing }) => {
      delete enforcements['c3'];
      for (const key of ['case', 'until'] as const) delete standing[key];
      standing.level = 'good';
      closures['c3'] = { ...now, at: dayAt(99) };
    },
    ({ closures, ends, standing }) => {
      ends['c3'] = { ground: 'served', at: dayAt(22), n: 100 };
      for (const key of ['case', 'until'] as const) delete standing[key];
      standing.level = 'good';
      closures['c3'] = { at: dayAt(99), n: 101 };
    },
  ],
  [
    'STRIKE_ON_VIOLATION',
    'a strike for what is harmless; for what is not',
    ({ strikes }) => Object.assign(strikes, { c4: { s: now } }),
    ({ strikes, assessments }) => {
      assessments['c4']!.violates = true;
      strikes['c4'] = { s: now };
    },
  ],
  [
    'STRIKE_ON_VIOLATION',
    'a strike before the assessment; right after it',
    ({ strikes, assessments }) =>
      Object.assign(strikes['c5']!['s-c5']!, { n: assessments['c5']!.n }),
    ({ strikes, assessments }) =>
      Object.assign(strikes['c5']!['s-c5']!, { n: assessments['c5']!.n + 1 }),
  ],
  [
    'STRIKE_ONCE',
    'two strikes for one case, the first overturned; for two cases',
    ({ strikes }) => Object.assign(strikes['c2']!, { again: now }),
    ({ strikes, assessments, cases }) => {
      cases['c9'] = { content: 'post-c9', clause: 'spam', ...now };
      assessments['c9'] = { violates: true, rationale: 'it is', ...now, n: 101 };
      strikes['c9'] = { s: { ...now, n: 102 } };
    },
  ],
  [
    'STRIKE_TERM',
    'expired a day early; on its day',
    ({ strikes }) => Object.assign(strikes['c1']!['s-c1']!, { expired: { ...now, at: dayAt(89) } }),
    ({ strikes }) => Object.assign(strikes['c1']!['s-c1']!, { expired: { ...now, at: dayAt(90) } }),
  ],
  [
    'LADDER_NOT_SKIPPED',
    'two strikes that nothing answers; one of them expired',
    ({ strikes, actions, assessments, notices, appeals }) => {
      assessments['c4']!.violates = true;
      strikes['c4'] = { s: now };
      for (const rows of [actions, notices]) delete rows['c5'];
      delete appeals['a5'];
    },
    ({ strikes, actions, assessments, notices, appeals }) => {
      assessments['c4']!.violates = true;
      strikes['c4'] = { s: { ...now, expired: { at: dayAt(105), n: 101 } } };
      for (const rows of [actions, notices]) delete rows['c5'];
      delete appeals['a5'];
    },
  ],
  [
    'OVERTURNED_ON_APPEAL',
    'a strike taken away that nobody appealed; the one whose appeal was granted',
    ({ strikes }) =>
      Object.assign(strikes['c3']!['s-c3']!, { overturned: { appeal: 'a2', n: 100 } }),
    ({ decisions, strikes }) => {
      decisions['a5'] = {
        case: 'c5',
        granted: true,
        reason: 'a joke',
        by: 'mod:mona',
        ...now,
        carried_out: 101,
      };
      strikes['c5']!['s-c5']!.overturned = { appeal: 'a5', n: 101 };
    },
  ],
  [
    'ACTION_ON_STRIKE',
    'an action for a strike of another name; for a strike on its last day',
    ({ actions }) => {
      actions['c1']!.strike = 'none';
      // Its own strike is unanswered then. One strike may be.
    },
    ({ actions, notices, appeals }) => {
      for (const row of [actions['c5']!, notices['c5']!, appeals['a5']!]) row.at = dayAt(89);
    },
  ],
  [
    'PROPORTIONATE',
    'one rung too harsh; the rung that it is when a strike has expired',
    ({ actions }) => Object.assign(actions['c5']!, { kind: 'limit' }),
    ({ actions, notices, appeals }) => {
      for (const row of [actions['c5']!, notices['c5']!, appeals['a5']!]) row.at = dayAt(90);
      actions['c5']!.kind = 'limit';
    },
  ],
  [
    'LADDER_WAITS_FOR_APPEAL',
    'the next action while an appeal is open; after it was granted and carried out',
    ({ decisions, actions }) => Object.assign(decisions['a2']!, { carried_out: actions['c3']!.n }),
    ({ decisions, actions }) =>
      Object.assign(decisions['a2']!, { carried_out: actions['c3']!.n - 1 }),
  ],
  [
    'NOTICE_BEFORE_ENFORCEMENT',
    'in force before the account had notice; with the next event',
    ({ notices, enforcements }) => Object.assign(notices['c3']!, { n: enforcements['c3']!.n }),
    ({ notices, enforcements }) => Object.assign(notices['c3']!, { n: enforcements['c3']!.n - 1 }),
  ],
  [
    'ENFORCEMENT_WAITS_FOR_APPEAL',
    'in force while its appeal is open; when it was refused',
    ({ enforcements, standing }) => {
      enforcements['c5'] = { ...now, until: dayAt(45) };
      Object.assign(standing, { level: 'suspended', case: 'c5', until: dayAt(45) });
    },
    ({ enforcements, standing, decisions }) => {
      decisions['a5'] = {
        case: 'c5',
        granted: false,
        reason: 'no joke',
        by: 'mod:mona',
        ...now,
        n: 99,
      };
      enforcements['c5'] = { ...now, until: dayAt(45) };
      Object.assign(standing, { level: 'suspended', case: 'c5', until: dayAt(45) });
    },
  ],
  [
    'TERM_AS_CONFIGURED',
    'a suspension of a day more; of its days, to the microsecond',
    ({ enforcements, standing }) => {
      enforcements['c3']!.until = dayAt(23);
      standing.until = dayAt(23);
    },
    ({ enforcements }) => Object.assign(enforcements['c3']!, { until: dayAt(22) }),
  ],
  [
    'TERM_SERVED',
    'lifted a day early; on its day',
    ({ ends }) => Object.assign(ends['c2']!, { at: dayAt(7) }),
    ({ ends }) => Object.assign(ends['c2']!, { at: dayAt(8) }),
  ],
  [
    'ENDED_ON_APPEAL',
    'ended by an appeal that was not granted; by one that was',
    ({ ends, decisions }) =>
      Object.assign(ends['c2']!, { ground: 'granted', n: decisions['a2']!.n }),
    ({ ends }) => Object.assign(ends['c2']!, { ground: 'granted', n: 100 }),
  ],
  [
    'STANDING_ON_RECORD',
    'in good standing with a limit in force; as it is',
    ({ standing }) => {
      standing.level = 'good';
    },
    ({ standing }) => {
      standing.level = 'limited';
    },
  ],
  [
    'APPEAL_IN_WINDOW',
    'appealed on the day from which it can’t be; the day before',
    ({ appeals }) => Object.assign(appeals['a5']!, { at: dayAt(29) }),
    ({ appeals }) => Object.assign(appeals['a5']!, { at: dayAt(28) }),
  ],
  [
    'APPEAL_IN_WINDOW',
    'appealed before the notice; right after',
    ({ appeals, notices }) => Object.assign(appeals['a5']!, { n: notices['c5']!.n }),
    ({ appeals, notices }) => Object.assign(appeals['a5']!, { n: notices['c5']!.n + 1 }),
  ],
  [
    'ONE_OPEN_APPEAL',
    'a second appeal while the first is open; after it was refused',
    ({ appeals }) => Object.assign(appeals, { b5: { ...appeals['a5']!, n: 100 } }),
    ({ appeals, decisions }) => {
      decisions['a5'] = {
        case: 'c5',
        granted: false,
        reason: 'no joke',
        by: 'mod:mona',
        ...now,
        n: 99,
      };
      appeals['b5'] = { ...appeals['a5']!, n: 100 };
    },
  ],
  [
    'APPEAL_DECIDED_BY_ANOTHER',
    'decided by who took the action; by somebody else',
    ({ decisions }) => Object.assign(decisions['a2']!, { by: 'mod:otto' }),
    ({ decisions }) => Object.assign(decisions['a2']!, { by: 'mod:zoe' }),
  ],
  [
    'APPEAL_DECIDED_BY_ANOTHER',
    'a decision of no appeal; of an appeal that there is',
    ({ decisions }) =>
      Object.assign(decisions, {
        a9: { case: 'c1', granted: false, reason: 'no', by: 'mod:zoe', ...now },
      }),
    ({ decisions }) =>
      Object.assign(decisions, {
        a5: { case: 'c5', granted: false, reason: 'no', by: 'mod:zoe', ...now },
      }),
  ],
  [
    'GRANTED_IS_CARRIED_OUT',
    'an account reinstated that keeps its strike; that has lost it',
    ({ decisions }) => {
      decisions['a5'] = {
        case: 'c5',
        granted: true,
        reason: 'a joke',
        by: 'mod:mona',
        ...now,
        carried_out: 101,
      };
    },
    ({ decisions }) => {
      decisions['a5'] = { case: 'c5', granted: true, reason: 'a joke', by: 'mod:mona', ...now };
    },
  ],
  [
    'APPEAL_IS_HUMAN',
    'decided by an agent; by a person',
    ({ decisions }) => Object.assign(decisions['a2']!, { by: 'agent:appeals' }),
    ({ decisions }) => Object.assign(decisions['a2']!, { by: 'mod:eve' }),
  ],
  [
    'BAN_IS_HUMAN',
    'a ban without a person; with one',
    ({ actions, policy }) => {
      policy.ladder = ['warn', 'limit', 'ban'];
      actions['c5']!.kind = 'ban';
    },
    ({ actions, policy }) => {
      policy.ladder = ['warn', 'limit', 'ban'];
      Object.assign(actions['c5']!, { kind: 'ban', approved_by: 'mod:mona' });
    },
  ],
];

describe('each rule is broken alone, and passes on the nearest case that it should', () => {
  test.each(table)('%s: %s', (id, _, wrong, right) => {
    expect(broken(but(wrong))).toEqual([id]);
    expect(broken(but(right))).toEqual([]);
  });

  test('all of them', () => {
    expect([...new Set(table.map(([id]) => id))].sort()).toEqual(
      moderation.rules.map(({ id }) => id).sort(),
    );
  });
});
