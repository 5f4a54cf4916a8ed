/** What can be wrong with a domain. Those that are warnings leave it `ok`. */
export type ProblemKind =
  /** `defineDomain` refuses it. */
  | 'invalid_domain'
  /** It uses a clock, chance, the environment or the network, or the same inputs gave two results. */
  | 'impure'
  /** It changed what it was given. */
  | 'mutates_arguments'
  /** It returned a promise. */
  | 'asynchronous'
  /** It threw what is no sentence for a person: a TypeError and the like, or something that is no Error. */
  | 'throws'
  /** It left its footprint, to read or to write. */
  | 'outside_footprint'
  /** A pointer of `with` leads out of `reads`. */
  | 'with_outside_reads'
  /** An invariant wrote to the state. */
  | 'writes_state'
  /** An invariant answered neither pass, reject nor escalate. */
  | 'nonsense'
  /** It depends on the order in which keys were written. */
  | 'key_order'
  /** The initial state does not pass. */
  | 'broken_initial'
  /** What escalated and was approved does not pass. */
  | 'approval_does_not_pass'
  /** What would be approved is not what was put up for approval. */
  | 'approval_differs'
  /** What an action says is proposed where its effects fail is nothing that can be proposed. */
  | 'failure_not_proposed'
  /** The kernel's incremental judgement is not that of all rules on everything. */
  | 'evaluation_differs'
  /** A schema gives what is no JSON, and nothing of it can be recorded. */
  | 'not_json'
  /** Warning: the schema lets pass what no entry can have. */
  | 'loose_schema'
  /** Warning: an action made a state that does not fit the schema. */
  | 'bad_result'
  /** Warning: no state that was seen breaks the invariant, or all do, or it had nothing to judge. */
  | 'never_violated'
  | 'always_fails'
  | 'never_judged'
  /** Warning: a process that no role performs or no action belongs to, a footprint of it that no action touched. */
  | 'unused'
  /** Warning: nobody was found who is a counselor of the kind, or who could choose where what is believed waits for a person. */
  | 'no_counselor'
  /** Warning: no value was found that the schema takes. */
  | 'no_values'
  /** Warning: the action was never carried out. */
  | 'never_done';

/** What brings the problem about. */
export interface Counterexample {
  readonly state?: unknown;
  readonly action?: string;
  readonly role?: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args?: unknown;
  /** Of an `each` invariant, what the stars stand for; where it says. */
  readonly detail?: string;
}

export interface DomainProblem {
  readonly kind: ProblemKind;
  readonly level: 'error' | 'warning';
  /** Such as `action spend`, `invariant BUDGET_CAP`, `process spend`, `initial state`. */
  readonly where: string;
  readonly sentence: string;
  readonly counterexample?: Counterexample;
  /** How often the counterexample was made smaller. */
  readonly shrunk: number;
}

export interface DomainReport {
  readonly domain: string;
  /** No problem is an error; there may be warnings. */
  readonly ok: boolean;
  /** Errors first. */
  readonly problems: readonly DomainProblem[];
  readonly seed: number;
  readonly runs: number;
  /** Proposals that were judged, by what became of them. */
  readonly proposals: { readonly committed: number; readonly escalated: number; readonly rejected: number };
  /** States on which every invariant was judged. */
  readonly states: number;
  formatReport(): string;
}

/** For a person, on a terminal or in a failed test. */
export function formatReport(report: Omit<DomainReport, 'formatReport'>): string {
  const errors = report.problems.filter(({ level }) => level === 'error').length;
  const warnings = report.problems.length - errors;
  const counted = [count(errors, 'error'), count(warnings, 'warning')].filter((text) => text !== undefined);
  const { committed, escalated, rejected } = report.proposals;
  return [
    `The domain ${report.domain}: ${counted.length === 0 ? 'nothing found' : counted.join(', ')}.`,
    ...report.problems.map((problem, i) => `\n${i + 1}. ${textOf(problem)}`),
    `\nseed ${report.seed}, ${report.runs} runs: ${committed} committed, ${escalated} escalated, ${rejected} rejected; invariants judged on ${report.states} states`,
  ].join('\n');
}

function count(n: number, what: string): string | undefined {
  return n === 0 ? undefined : `${n} ${what}${n === 1 ? '' : 's'}`;
}

function textOf({ kind, level, where, sentence, counterexample: example }: DomainProblem): string {
  const lines = [`${where}: ${sentence} (${level === 'warning' ? 'warning, ' : ''}${kind})`];
  if (example === undefined) return lines[0] as string;
  const { state, action, role, args, detail } = example;
  if (state !== undefined) lines.push(`state   ${json(state)}`);
  if (action !== undefined) lines.push(`action  ${action}`);
  if (role !== undefined)
    lines.push(`role    ${role.name}${json(role.params) === '{}' ? '' : ` ${json(role.params)}`}`);
  if (args !== undefined) lines.push(`args    ${json(args)}`);
  if (detail !== undefined) lines.push(`says    ${detail}`);
  return lines.join('\n   ');
}

/** Longest value that is shown; a state of a real domain may be large. */
const VALUE_MAX = 2_000;

function json(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}…`;
}
