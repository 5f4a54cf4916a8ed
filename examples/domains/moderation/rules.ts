/**
 * The invariants, in order. The first one that does not pass decides, and escalations are last.
 * Rules that read an action or a decision (both can be pending) are checked on the record of the
 * account, so a pending proposal blocks only that account. The others are checked row by row.
 * README.md names the source of each.
 */
import {
  escalate,
  type Invariant,
  type InvariantResult,
  pass,
  type Rules,
  reject,
} from 'assize/internal/kernel';
import { isModerator, MODERATOR, nameOf } from './people.ts';
import {
  activeStrikes,
  isActive,
  isOverturned,
  openAppeal,
  rungFor,
  standingOf,
} from './record.ts';
import type { ModerationState } from './schema.ts';
import { daysAfter } from './time.ts';

export function rules(given: Rules<ModerationState>): readonly Invariant<ModerationState>[] {
  const parts = [casework, strikes, ladder, enforcement, appeals, people];
  return parts.flatMap((part) => part(given));
}

function casework({ each, unique }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    unique(
      'DUPLICATES_MERGE',
      '/accounts/*/cases/*',
      { by: ({ content, clause }, [account = '']) => [account, content, clause] },
      (places) =>
        reject(
          `${places.join(' and ')} are about one content and one clause; merge the reports into one case`,
        ),
    ),

    each(
      'REPORT_IN_ITS_CASE',
      '/accounts/*/reports/*',
      {
        reads: ['/accounts/*/cases/*'],
        // No id is empty, so a report that is in no case is judged with nothing.
        with: ({ case: of }, [account]) => ({ into: `/accounts/${account}/cases/${of ?? ''}` }),
      },
      ({ content, clause, case: of }, { into }) => {
        if (of === undefined) return pass;
        if (into === undefined) return reject(`there is no case ${of}`);
        return into.content === content && into.clause === clause
          ? pass
          : reject(
              `${of} is about ${into.content} under ${into.clause}, the report about ${content} under ${clause}`,
            );
      },
    ),

    each(
      'ASSESSED_ON_REPORT',
      '/accounts/*/assessments/*',
      {
        reads: ['/accounts/*/cases/*'],
        with: (_, [account, of]) => ({ of: `/accounts/${account}/cases/${of}` }),
      },
      ({ n }, { of }) => (isBefore(of, n) ? pass : reject('the case has no earlier report')),
    ),

    each(
      'CLOSED_WHEN_DONE',
      '/accounts/*',
      { reads: ['/policy/appeal_days'], with: () => ({ appealDays: '/policy/appeal_days' }) },
      ({ closures, assessments, actions, notices, enforcements, ...record }, { appealDays = 0 }) =>
        rows(closures, ({ at, n }, id) => {
          const { [id]: notice } = notices;
          if (!isBefore(assessments[id], n)) return 'the case is not assessed';
          if (!assessments[id]?.violates) return undefined;
          if (!isBefore(actions[id], n) || !isBefore(notice, n))
            return 'the content breaks the policy, but the account was not notified yet';
          const open = openAppeal(record, n, id);
          if (open !== undefined) return `the appeal ${open} is open`;
          if (at < daysAfter(notice.at, appealDays)) return 'it can still be appealed';
          const isDone =
            actions[id]?.kind === 'warn' ||
            isBefore(enforcements[id], n) ||
            isOverturned(record, n, id);
          return isDone ? undefined : 'the action is not in force yet';
        }),
    ),
  ];
}

function strikes({ each, unique }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    each(
      'STRIKE_ON_VIOLATION',
      '/accounts/*/strikes/*',
      {
        reads: ['/accounts/*/assessments/*'],
        with: (_, [account, of]) => ({ assessment: `/accounts/${account}/assessments/${of}` }),
      },
      (strikes, { assessment }) => {
        const isFound = Object.values(strikes).every(
          ({ n }) => assessment?.violates && isBefore(assessment, n),
        );
        return isFound ? pass : reject('it was not found to break the policy');
      },
    ),

    unique(
      'STRIKE_ONCE',
      '/accounts/*/strikes/*/*',
      { by: (_, [account = '', of = '']) => [account, of] },
      (places) =>
        reject(
          `${places.join(' and ')} are for one case, which counts only once, even after its strike was removed`,
        ),
    ),

    each(
      'STRIKE_TERM',
      '/accounts/*/strikes/*/*',
      { reads: ['/policy/strike_days'], with: () => ({ strikeDays: '/policy/strike_days' }) },
      ({ at, expired }, { strikeDays = 0 }) => {
        const end = daysAfter(at, strikeDays);
        return expired === undefined || expired.at >= end ? pass : reject(`it counts until ${end}`);
      },
    ),

    each('LADDER_NOT_SKIPPED', '/accounts/*', {}, ({ strikes, actions }) => {
      const unanswered = Object.entries(strikes).flatMap(([of, ofCase]) =>
        Object.entries(ofCase).flatMap(([id, { expired }]) =>
          expired === undefined && actions[of]?.strike !== id ? [id] : [],
        ),
      );
      return unanswered.length <= 1
        ? pass
        : reject(
            `the strikes ${unanswered.join(' and ')} are both unanswered; answer one before the next is issued`,
          );
    }),

    each('OVERTURNED_ON_APPEAL', '/accounts/*', {}, ({ strikes, decisions }) =>
      rows(strikes, (ofCase, id) => {
        const lost = Object.values(ofCase).flatMap(({ overturned }) => overturned?.appeal ?? []);
        const odd = lost.find(
          (appeal) => !decisions[appeal]?.granted || decisions[appeal].case !== id,
        );
        return odd === undefined ? undefined : `its overturning appeal ${odd} was not granted`;
      }),
    ),
  ];
}

function ladder({ each }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    each(
      'ACTION_ON_STRIKE',
      '/accounts/*',
      { reads: ['/policy/strike_days'], with: () => ({ strikeDays: '/policy/strike_days' }) },
      ({ actions, strikes }, { strikeDays = 0 }) =>
        rows(actions, ({ at, n, strike: id }, of) => {
          const strike = strikes[of]?.[id];
          return strike !== undefined && isActive(strike, at, n, strikeDays)
            ? undefined
            : `the strike ${id} is not active`;
        }),
    ),

    each(
      'PROPORTIONATE',
      '/accounts/*',
      {
        reads: ['/policy/ladder', '/policy/strike_days'],
        with: () => ({ ladder: '/policy/ladder', strikeDays: '/policy/strike_days' }),
      },
      ({ actions, strikes }, { ladder = [], strikeDays = 0 }) =>
        rows(actions, ({ kind, at, n }) => {
          const active = activeStrikes(strikes, at, n, strikeDays);
          const rung = rungFor(active, ladder) ?? 'nothing';
          return rung === kind
            ? undefined
            : `the policy answers ${active} strike(s) with ${rung}, not ${kind}`;
        }),
    ),

    each('LADDER_WAITS_FOR_APPEAL', '/accounts/*', {}, ({ actions, ...record }) =>
      rows(actions, ({ n }) => {
        const open = openAppeal(record, n);
        return open === undefined
          ? undefined
          : `the appeal ${open} is open and can remove a strike`;
      }),
    ),
  ];
}

function enforcement({ each }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    each(
      'NOTICE_BEFORE_ENFORCEMENT',
      '/accounts/*/enforcements/*',
      {
        reads: ['/accounts/*/notices/*'],
        with: (_, [account, of]) => ({ notice: `/accounts/${account}/notices/${of}` }),
      },
      ({ n }, { notice }) =>
        isBefore(notice, n) ? pass : reject('the account was not notified; notify it first'),
    ),

    each('ENFORCEMENT_WAITS_FOR_APPEAL', '/accounts/*', {}, ({ enforcements, ...record }) =>
      rows(enforcements, ({ n }, id) => {
        const open = openAppeal(record, n, id);
        if (open !== undefined) return `the appeal ${open} against it is open`;
        return isOverturned(record, n, id) ? 'it was overturned on appeal' : undefined;
      }),
    ),

    each(
      'TERM_AS_CONFIGURED',
      '/accounts/*',
      { reads: ['/policy/term_days'], with: () => ({ termDays: '/policy/term_days' }) },
      ({ enforcements, actions }, { termDays }) =>
        rows(enforcements, ({ at, until }, id) => {
          const kind = actions[id]?.kind;
          if (kind === undefined || termDays === undefined)
            return 'no action was decided that could be enforced';
          if (kind === 'warn') return 'a warning ends with its notice';
          const end = kind === 'ban' ? undefined : daysAfter(at, termDays[kind]);
          return end === until
            ? undefined
            : `a ${kind} from now on ends ${end ?? 'never'}, not ${until ?? 'never'}`;
        }),
    ),

    each(
      'TERM_SERVED',
      '/accounts/*/ends/*',
      {
        reads: ['/accounts/*/enforcements/*'],
        with: (_, [account, of]) => ({ enforced: `/accounts/${account}/enforcements/${of}` }),
      },
      ({ ground, at }, { enforced }) => {
        if (enforced === undefined) return reject('no action was in force');
        const { until } = enforced;
        if (ground === 'granted' || (until !== undefined && at >= until)) return pass;
        return reject(`it is in force until ${until ?? 'an appeal is granted'}`);
      },
    ),

    each('ENDED_ON_APPEAL', '/accounts/*', {}, ({ ends, ...record }) =>
      rows(ends, ({ ground, n }, id) =>
        ground !== 'granted' || isOverturned(record, n, id)
          ? undefined
          : 'no appeal against it was granted',
      ),
    ),

    each('STANDING_ON_RECORD', '/accounts/*', {}, ({ standing, ...record }) => {
      const derived = standingOf(record);
      const same = (['level', 'case', 'until'] as const).every(
        (part) => derived[part] === standing[part],
      );
      return same
        ? pass
        : reject(`the standing must be ${derived.level}, but the record has ${standing.level}`);
    }),
  ];
}

function appeals({ each }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    each(
      'APPEAL_IN_WINDOW',
      '/accounts/*/appeals/*',
      {
        reads: ['/policy/appeal_days', '/accounts/*/notices/*'],
        with: ({ case: of }, [account]) => ({
          appealDays: '/policy/appeal_days',
          notice: `/accounts/${account}/notices/${of}`,
        }),
      },
      ({ at, n, case: of }, { appealDays = 0, notice }) => {
        if (!isBefore(notice, n)) return reject(`the account was not notified of ${of} yet`);
        const end = daysAfter(notice.at, appealDays);
        return at < end ? pass : reject(`the time to appeal ${of} ended at ${end}`);
      },
    ),

    each('ONE_OPEN_APPEAL', '/accounts/*', {}, (record) =>
      rows(record.appeals, ({ n, case: of }) => {
        const open = openAppeal(record, n, of);
        if (open !== undefined) return `the appeal ${open} against ${of} is open`;
        return isOverturned(record, n, of)
          ? `${of} is overturned; there is nothing left to appeal`
          : undefined;
      }),
    ),

    each('APPEAL_DECIDED_BY_ANOTHER', '/accounts/*', {}, ({ decisions, appeals, actions }) =>
      rows(decisions, ({ case: of, by, n }, id) => {
        const { [of]: action } = actions;
        if (appeals[id]?.case !== of || !isBefore(appeals[id], n) || action === undefined)
          return 'the appeal does not exist';
        if (by === undefined) return undefined;
        const deciders = [action.officer, nameOf(action.approved_by ?? '')];
        return deciders.includes(nameOf(by))
          ? `${by} decided the appealed action; another moderator must decide`
          : undefined;
      }),
    ),

    each(
      'GRANTED_IS_CARRIED_OUT',
      '/accounts/*',
      {},
      ({ decisions, strikes, enforcements, ends }) =>
        rows(decisions, ({ case: of, granted, carried_out }, id) => {
          if (carried_out === undefined) return undefined;
          if (!granted) return 'the appeal was not granted';
          const isLost = Object.values(strikes[of] ?? {}).some(
            ({ overturned }) => overturned?.appeal === id,
          );
          if (!isLost) return 'the strike of the granted appeal still exists';
          return enforcements[of] === undefined || ends[of] !== undefined
            ? undefined
            : 'the appealed action is still in force';
        }),
    ),
  ];
}

function people({ each }: Rules<ModerationState>): Invariant<ModerationState>[] {
  return [
    each(
      'APPEAL_IS_HUMAN',
      '/accounts/*/decisions/*',
      {
        channel: MODERATOR,
        onApprove: ({ accounts }, { counselor, keys: [account = '', appeal = ''] }) => {
          const row = accounts[account]?.decisions[appeal];
          if (row !== undefined) row.by = counselor;
        },
      },
      ({ granted, reason, by }, _, [, appeal]) => {
        if (by === undefined)
          return escalate(
            `a moderator decides ${appeal}: ${granted ? 'grant' : 'uphold'}, ${reason}`,
          );
        return isModerator(by) ? pass : reject(`${by} is not a moderator`);
      },
    ),

    each(
      'BAN_IS_HUMAN',
      '/accounts/*/actions/*',
      {
        channel: MODERATOR,
        onApprove: ({ accounts }, { counselor, keys: [account = '', of = ''] }) => {
          const row = accounts[account]?.actions[of];
          if (row !== undefined) row.approved_by = counselor;
        },
      },
      ({ kind, approved_by }, _, [account]) => {
        if (kind !== 'ban') return pass;
        if (approved_by === undefined)
          return escalate(`a moderator decides whether ${account} is banned permanently`);
        return isModerator(approved_by) ? pass : reject(`${approved_by} is not a moderator`);
      },
    ),
  ];
}

/** The first row, in the order of keys, that something is wrong with. */
function rows<Row>(
  of: Readonly<Record<string, Row>>,
  fault: (row: Row, id: string) => string | undefined,
): InvariantResult {
  for (const [id, row] of Object.entries(of)) {
    const why = fault(row, id);
    if (why !== undefined) return reject(`${id}: ${why}`);
  }
  return pass;
}

function isBefore<Event extends { readonly n: number }>(
  event: Event | undefined,
  n: number,
): event is Event {
  return event !== undefined && event.n < n;
}
