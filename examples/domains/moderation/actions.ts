/**
 * The actions of the agents. An action records its arguments, and the invariants decide whether the
 * record is allowed. The action itself refuses only records without meaning: an unknown account or
 * case, or a duplicate row.
 */
import type { Instant } from 'assize/internal/canon';
import type { Action as DomainAction } from 'assize/internal/kernel';
import { z } from 'zod';
import { newAccount } from './initial.ts';
import { MODERATOR } from './people.ts';
import { standingOf } from './record.ts';
import type { ProcessName } from './roles.ts';
import { type Account, id, instant, type Kind, kind, type ModerationState } from './schema.ts';

type State = ModerationState;

// A type and not an interface: `defineDomain` asks for an index signature, and only types get one
// implicitly.
export type ModerationActions = {
  open_record: Record<never, never>;
  receive_report: { report: string; content: string; clause: string; reporter: string };
  triage: { report: string; case: string };
  assess: { violates: boolean; rationale: string };
  issue_strike: { strike: string };
  take_action: { case: string; strike: string; kind: Kind };
  notify: { case: string; text: string };
  enforce: { case: string; until?: Instant };
  lift: { case: string };
  expire_strike: { case: string; strike: string };
  file_appeal: { appeal: string; case: string; statement: string };
  decide_appeal: { appeal: string; granted: boolean; reason: string };
  reinstate: { appeal: string };
  close_case: { case: string };
};

interface ModerationAction<Name extends ProcessName, Args, Params>
  extends DomainAction<State, Args, Params> {
  readonly process: Name;
  /** The arguments are recorded unchanged: nothing is filled in. */
  readonly args: z.ZodType<Args, Args>;
}

type OfAccount = { readonly account: string };
type OfCase = OfAccount & { readonly case: string };
type OfOfficer = OfAccount & { readonly officer: string };

const text = z.string().min(1);

const openRecord: ModerationAction<'opening', ModerationActions['open_record'], OfAccount> = {
  process: 'opening',
  description: 'Open the empty record of an account.',
  args: z.object({}),
  apply: (state, _, { role: { account } }) => {
    if (state.accounts[account] !== undefined)
      throw new Error(`the account ${account} has a record already`);
    state.accounts[account] = newAccount();
  },
};

const receiveReport: ModerationAction<'receiving', ModerationActions['receive_report'], OfAccount> =
  {
    process: 'receiving',
    description: 'Record a report of a content under a clause of the policy.',
    args: z.object({ report: id, content: id, clause: id, reporter: id }),
    apply: (state, { report, ...row }, { role: { account }, at }) => {
      const record = recordOf(state, account);
      addRow(record.reports, report, { ...row, at, n: nextEvent(record) });
    },
  };

const triage: ModerationAction<'triage', ModerationActions['triage'], OfAccount> = {
  process: 'triage',
  description:
    'Merge a report into the case of its content and clause; the first report opens the case.',
  args: z.object({ report: id, case: id }),
  apply: (state, { report, case: into }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    const row = rowOf(record.reports, report, 'report');
    if (row.case !== undefined)
      throw new Error(`the report ${report} is in the case ${row.case} already`);
    const n = nextEvent(record);
    if (record.cases[into] === undefined)
      addRow(record.cases, into, { content: row.content, clause: row.clause, at, n });
    row.case = into;
  },
};

const assess: ModerationAction<'assessing', ModerationActions['assess'], OfCase> = {
  process: 'assessing',
  description: 'Record once whether the content of a case breaks the clause, and why.',
  args: z.object({ violates: z.boolean(), rationale: text }),
  apply: (state, row, { role: { account, case: of }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.cases, of, 'case');
    addRow(record.assessments, of, { ...row, at, n: nextEvent(record) });
  },
};

const issueStrike: ModerationAction<'striking', ModerationActions['issue_strike'], OfCase> = {
  process: 'striking',
  description: 'Issue a strike for a case whose content was found to break the policy.',
  args: z.object({ strike: id }),
  apply: (state, { strike }, { role: { account, case: of }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.assessments, of, 'assessed case');
    const n = nextEvent(record);
    if (record.strikes[of] === undefined) record.strikes[of] = {};
    addRow(record.strikes[of], strike, { at, n });
  },
};

const takeAction: ModerationAction<'deciding', ModerationActions['take_action'], OfOfficer> = {
  process: 'deciding',
  description: 'Decide the action on a strike. A ban needs a human decision.',
  args: z.object({ case: id, strike: id, kind }),
  channel: MODERATOR,
  apply: (state, { case: of, ...row }, { role: { account, officer }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.strikes[of], row.strike, 'strike');
    addRow(record.actions, of, { ...row, officer, at, n: nextEvent(record) });
  },
};

const notify: ModerationAction<'notifying', ModerationActions['notify'], OfOfficer> = {
  process: 'notifying',
  description: 'Notify the account of the action and how to appeal. The time for an appeal starts.',
  args: z.object({ case: id, text }),
  apply: (state, { case: of, text }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.actions, of, 'action');
    addRow(record.notices, of, { text, at, n: nextEvent(record) });
  },
};

const enforce: ModerationAction<'enforcing', ModerationActions['enforce'], OfOfficer> = {
  process: 'enforcing',
  description: 'Enforce the decided action until its end. A warning ends with its notice.',
  args: z.object({ case: id, until: instant.exactOptional() }),
  apply: (state, { case: of, ...row }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    if (rowOf(record.actions, of, 'action').kind === 'warn')
      throw new Error('a warning ends with its notice');
    addRow(record.enforcements, of, { ...row, at, n: nextEvent(record) });
    derive(record);
  },
};

const lift: ModerationAction<'lifting', ModerationActions['lift'], OfOfficer> = {
  process: 'lifting',
  description: 'End an enforced action whose time is over.',
  args: z.object({ case: id }),
  apply: (state, { case: of }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.enforcements, of, 'enforcement');
    addRow(record.ends, of, { ground: 'served', at, n: nextEvent(record) });
    derive(record);
  },
};

const expireStrike: ModerationAction<'expiring', ModerationActions['expire_strike'], OfOfficer> = {
  process: 'expiring',
  description: 'Record that the time of a strike is over.',
  args: z.object({ case: id, strike: id }),
  apply: (state, { case: of, strike }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    const row = rowOf(record.strikes[of], strike, 'strike');
    if (row.expired !== undefined) throw new Error(`the strike ${strike} is expired already`);
    row.expired = { at, n: nextEvent(record) };
  },
};

const fileAppeal: ModerationAction<'appealing', ModerationActions['file_appeal'], OfAccount> = {
  process: 'appealing',
  description: 'Record the appeal of an account against the action of a case.',
  args: z.object({ appeal: id, case: id, statement: text }),
  apply: (state, { appeal, ...row }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.actions, row.case, 'action');
    addRow(record.appeals, appeal, { ...row, at, n: nextEvent(record) });
  },
};

const decideAppeal: ModerationAction<'reviewing', ModerationActions['decide_appeal'], OfAccount> = {
  process: 'reviewing',
  description:
    'Propose the decision of an appeal. A moderator decides, other than the one who decided the action.',
  args: z.object({ appeal: id, granted: z.boolean(), reason: text }),
  channel: MODERATOR,
  apply: (state, { appeal, ...row }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    const { case: of } = rowOf(record.appeals, appeal, 'appeal');
    addRow(record.decisions, appeal, { ...row, case: of, at, n: nextEvent(record) });
  },
};

const reinstate: ModerationAction<'reinstating', ModerationActions['reinstate'], OfAccount> = {
  process: 'reinstating',
  description: 'Carry out a granted appeal: remove the strike and end its enforced action.',
  args: z.object({ appeal: id }),
  apply: (state, { appeal }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    const decision = rowOf(record.decisions, appeal, 'decision');
    if (!decision.granted) throw new Error(`the appeal ${appeal} was not granted`);
    if (decision.carried_out !== undefined)
      throw new Error(`the appeal ${appeal} is carried out already`);
    const { case: of } = decision;
    const { strike } = rowOf(record.actions, of, 'action');
    const n = nextEvent(record);
    rowOf(record.strikes[of], strike, 'strike').overturned = { appeal, n };
    decision.carried_out = n;
    const isInForce = record.enforcements[of] !== undefined && record.ends[of] === undefined;
    if (!isInForce) return;
    addRow(record.ends, of, { ground: 'granted', at, n });
    derive(record);
  },
};

const closeCase: ModerationAction<'closing', ModerationActions['close_case'], OfAccount> = {
  process: 'closing',
  description: 'Close a case that needs no further action.',
  args: z.object({ case: id }),
  apply: (state, { case: of }, { role: { account }, at }) => {
    const record = recordOf(state, account);
    rowOf(record.cases, of, 'case');
    addRow(record.closures, of, { at, n: nextEvent(record) });
  },
};

export const actions = {
  open_record: openRecord,
  receive_report: receiveReport,
  triage,
  assess,
  issue_strike: issueStrike,
  take_action: takeAction,
  notify,
  enforce,
  lift,
  expire_strike: expireStrike,
  file_appeal: fileAppeal,
  decide_appeal: decideAppeal,
  reinstate,
  close_case: closeCase,
} satisfies {
  readonly [Name in keyof ModerationActions]: ModerationAction<
    ProcessName,
    ModerationActions[Name],
    any
  >;
};

function recordOf({ accounts }: State, account: string): Account {
  const record = accounts[account];
  if (record === undefined) throw new Error(`the account ${account} has no record; open one`);
  return record;
}

function nextEvent(record: Pick<Account, 'events'>): number {
  record.events += 1;
  return record.events;
}

function addRow<Row>(rows: Record<string, Row>, key: string, row: Row): void {
  if (rows[key] !== undefined) throw new Error(`there is ${key} already`);
  rows[key] = row;
}

function rowOf<Row>(
  rows: Readonly<Record<string, Row>> | undefined,
  key: string,
  what: string,
): Row {
  const row = rows?.[key];
  if (row === undefined) throw new Error(`there is no ${what} ${key}`);
  return row;
}

function derive(record: Pick<Account, 'enforcements' | 'ends' | 'actions' | 'standing'>): void {
  record.standing = standingOf(record);
}
